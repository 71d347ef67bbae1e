// A page without timelines.
Theme(() => {});
window.overlapcheck = { ready: true, timelines: [] };
