"""The host waits for the device, and the device then waits for the host.

What it is
    cudaDeviceSynchronize, cudaStreamSynchronize or cudaEventSynchronize in every step, by the
    launching thread or by one that it sleeps for; asking cudaEventQuery until the device is done;
    or a read-back of a few bytes, which implies a wait: loss.item(), .cpu(), print(tensor),
    tensor.nonzero(), a boolean mask as an index, `if tensor > 0`.

Why it costs overlap
    While the thread waits it launches nothing ahead. When the device is done, both start anew: the
    device idles until the first launches arrive, and copies meant to run ahead are issued late.
    The idle time after the call counts here as far as the host, with less work per step than the
    device, would have run ahead without the wait.

What it looks like
    kernels  ########······########······     the restart after each wait
    thread   LLL[synchronize] LLL[synchronize]

What to do
    PyTorch: keep values on the device (loss.detach()), read them every N steps, or copy them with
    non_blocking=True to pinned memory and read them a step later;
    torch.cuda.set_sync_debug_mode("warn") names the lines. Use torch.where instead of masks. CUDA:
    order device work with cudaStreamWaitEvent; read results one step later, behind
    cudaEventSynchronize of that step's event.

When this is wrong
    Correctness may need the wait: the host may read the result now, or refill a buffer that the
    device still reads. Then use double buffering and wait for the event of the buffer to be
    reused, one step back; a tensor that several streams use needs record_stream. A wait while the
    device stays busy costs nothing and is not counted here.
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.HOST_SYNC,
    title="the host waits for the device, which then runs dry",
    facts=(_facts.calls, _facts_work.called_copies, _facts.waits),
    advice="drop the synchronisation from the loop: order device work with cudaStreamWaitEvent, and"
    " read results one step later behind cudaEventSynchronize",
    advice_pytorch="keep values on the device (loss.detach()) and read them every N steps or one"
    ' step late; torch.cuda.set_sync_debug_mode("warn") names the lines',
    advice_once="order device work with cudaStreamWaitEvent, and wait once, where the host needs"
    " the result",
    advice_directives="put async(n) on data and compute directives (OpenACC) or nowait with depend"
    " (OpenMP), and wait once, where the host needs the result",
    caveat="correctness needs it because the host reads the result now or refills a buffer still in"
    " use: then double-buffer, wait one step back, and check record_stream",
)
