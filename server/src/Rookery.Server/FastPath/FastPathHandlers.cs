using System.Buffers;
using System.IO.Pipelines;

namespace Rookery.Server.FastPath;

/// <summary>Answers simple requests without Kestrel's pipeline. One for a server. Thread-safe.</summary>
internal sealed class FastPathHandlers
{
    private readonly FastPathGate _gate;
    private readonly GetHandler _get;
    private readonly PutHandler _put;

    /// <summary>Creates the answers of a server.</summary>
    /// <param name="context">State that all routes share.</param>
    public FastPathHandlers(ServerContext context)
    {
        var date = new DateHeader(context.Time);
        _gate = new FastPathGate(context);
        _get = new GetHandler(context, date);
        _put = new PutHandler(context, date);
    }

    /// <summary>
    /// Answers a request. If it returns 0, nothing was written or stored, and Kestrel must answer the request.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="body">Its whole body.</param>
    /// <param name="output">Receives the answer; the caller flushes.</param>
    /// <returns>Length of the answer in bytes.</returns>
    public ValueTask<int> WriteAsync(SimpleRequest request, in ReadOnlySequence<byte> body, PipeWriter output)
    {
        if (!_gate.TryAdmit(request, out var database))
        {
            return ValueTask.FromResult(0);
        }

        return request.IsPut
            ? _put.StoreAsync(request, database, body, output)
            : ValueTask.FromResult(_get.TryWrite(request, database, output));
    }
}
