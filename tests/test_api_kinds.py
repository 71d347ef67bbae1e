from __future__ import annotations

import pytest

from overlapcheck.api_kinds import HAND_OVERS, ApiKind, api_kind

KINDS = {
    ApiKind.LAUNCH: "cudaLaunchKernel cudaLaunchKernelExC cudaLaunchCooperativeKernel"
    " cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel",
    ApiKind.GRAPH_LAUNCH: "cudaGraphLaunch cuGraphLaunch",
    ApiKind.COPY: "cudaMemcpyAsync cudaMemcpy2DAsync cudaMemcpyPeerAsync cudaMemcpyToSymbolAsync"
    " cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemcpyAsync cudaMemPrefetchAsync cuMemPrefetchAsync",
    ApiKind.SYNC_COPY: "cudaMemcpy cudaMemcpy2D cudaMemcpyToSymbol cuMemcpyHtoD cuMemcpyDtoH"
    " cudaMemset cuMemsetD8 cuMemsetD32",
    ApiKind.MEMSET: "cudaMemsetAsync cudaMemset2DAsync cuMemsetD8Async cuMemsetD32Async",
    ApiKind.SYNC: "cudaDeviceSynchronize cudaStreamSynchronize cudaEventSynchronize"
    " cuCtxSynchronize cuStreamSynchronize cuEventSynchronize cudaThreadSynchronize",
    ApiKind.WAIT_EVENT: "cudaStreamWaitEvent cuStreamWaitEvent",
    ApiKind.RECORD_EVENT: "cudaEventRecord cudaEventRecordWithFlags cuEventRecord",
    ApiKind.QUERY: "cudaEventQuery cudaStreamQuery cuEventQuery cuStreamQuery",
    ApiKind.ALLOCATION: "cudaMalloc cudaFree cudaHostAlloc cudaMallocHost cudaFreeHost"
    " cudaHostRegister cudaHostUnregister cudaMallocAsync cudaFreeAsync cudaMallocManaged"
    " cudaMallocPitch cuMemAlloc cuMemFree cuMemAllocHost cuMemFreeHost cuMemHostAlloc"
    " cuMemHostRegister cuMemHostUnregister cuMemCreate cuMemMap cuMemSetAccess cuMemUnmap"
    " cuMemRelease cuMemAddressReserve cuMemAllocAsync cuMemPoolCreate",
    ApiKind.MODULE_LOAD: "cuModuleLoadData cuModuleLoadDataEx cuModuleUnload cuLibraryLoadData"
    " cudaLibraryLoadData cuLinkCreate cuLinkAddData cuFuncLoad",
    ApiKind.CODE_QUERY: "cuModuleGetFunction cuLibraryGetKernel cudaLibraryGetKernel"
    " cuKernelGetFunction cudaFuncGetAttributes cuFuncGetAttribute cudaGetFuncBySymbol",
    ApiKind.GRAPH_BUILD: "cudaGraphInstantiate cudaGraphInstantiateWithFlags cuGraphInstantiate"
    " cudaGraphExecUpdate cuGraphExecUpdate cudaGraphExecDestroy cudaGraphUpload cudaGraphDestroy"
    " cudaGraphAddKernelNode cuGraphAddMemcpyNode cudaGraphExecKernelNodeSetParams",
    ApiKind.CAPTURE: "cudaStreamBeginCapture cudaStreamEndCapture cuStreamBeginCapture"
    " cuStreamEndCapture",
    ApiKind.OTHER: "cudaLaunchHostFunc cuLaunchHostFunc cudaGetDevice cudaStreamCreateWithFlags"
    " cudaEventCreateWithFlags cudaStreamIsCapturing cudaIpcOpenMemHandle"
    " cudaGetDeviceProperties cudaStreamUpdateCaptureDependencies cudaSetDevice"
    " cudaFuncSetAttribute cuInit unknown",
}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind, names in KINDS.items() for name in names.split()]
)
def test_a_call_has_the_kind_that_the_cuda_manual_gives_it(name: str, kind: ApiKind) -> None:
    assert api_kind(name) is kind


def test_waiting_for_an_event_is_no_synchronisation() -> None:
    assert api_kind("cudaStreamWaitEvent") is not ApiKind.SYNC


def test_calls_that_wait_hand_nothing_over() -> None:
    assert {api_kind(n) for n in ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync")} == (
        set(HAND_OVERS)
    )
    assert api_kind("cudaMemcpy") not in HAND_OVERS
