/* Search from the file system. Browsers refuse workers there, so the worker's script runs in a hidden frame. The
   name of this file tells the theme not to load a shim from the network. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.appendChild(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inner.document.createElement("script");
      script.src = url;
      this.ready = new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = reject;
      });
      this.inner.document.body.appendChild(script);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
