using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Databases;
using Rookery.Storage;

namespace Rookery.Server.FastPath;

/// <summary>Answers simple requests without Kestrel's pipeline. A server has one instance. Thread-safe.</summary>
internal sealed class FastPathHandlers
{
    private readonly ServerContext _context;
    private readonly FastPathGate _gate;
    private readonly GetHandler _get;
    private readonly WriteHandler _write;
    private readonly QueryHandler _query;
    private readonly RouteMetrics _route;
    private readonly RouteTotal _reads;
    private readonly DateHeader _date;

    /// <summary>Creates the handlers of a server.</summary>
    /// <param name="context">State that all routes share.</param>
    public FastPathHandlers(ServerContext context)
    {
        _date = new DateHeader(context.Time);
        _context = context;
        _gate = new FastPathGate(context);
        _get = new GetHandler(context, _date);
        _write = new WriteHandler(context, _date);
        _query = new QueryHandler(context, _date);
        _route = context.Metrics.ForRoute(RavenRoutes.DocumentsPattern);
        _reads = new RouteTotal(context.Metrics.Reads);
    }

    /// <summary>Whether any request can be answered now.</summary>
    public bool IsOpen => _gate.IsOpen;

    /// <summary>
    /// Answers a request. If it returns 0, nothing was written or stored, and Kestrel must answer the request.
    /// </summary>
    /// <param name="request">The request. The same object may be used again when the task has completed.</param>
    /// <param name="body">Its whole body.</param>
    /// <param name="connection">Items of its connection.</param>
    /// <param name="output">Receives the response; the caller flushes.</param>
    /// <returns>Length of the response in bytes.</returns>
    public ValueTask<int> WriteAsync(
        SimpleRequest request,
        in ReadOnlySequence<byte> body,
        IDictionary<object, object?> connection,
        PipeWriter output
    )
    {
        if (!_gate.TryAdmit(request, connection, out var database))
        {
            return ValueTask.FromResult(0);
        }

        var consensus = _context.Node.Consensus;
        if (request.Kind != SimpleRequestKind.GetDocument || !consensus.AnswersAtOnce)
        {
            return WriteOnPoolAsync(request, database, body, output);
        }

        if (IsOutdated(request, database))
        {
            return ValueTask.FromResult(0);
        }

        long start = _context.Time.GetTimestamp();
        bool mayReadDisk = !SocketThreads.IsCurrent;
        int length = _get.TryWrite(request, database, output, mayReadDisk, out bool isOnDisk, out int status);
        if (isOnDisk)
        {
            return WriteOnPoolAsync(request, database, body, output);
        }

        if (length > 0)
        {
            _context.Metrics.AddFastRead(_route, start, status);
        }

        return ValueTask.FromResult(length);
    }

    // Runs on the thread pool, because these requests read the disk, commit on their thread, or wait for other members.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WriteOnPoolAsync(
        SimpleRequest request,
        Database database,
        ReadOnlySequence<byte> body,
        PipeWriter output
    )
    {
        if (SocketThreads.IsCurrent)
        {
            await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        }

        if (IsOutdated(request, database))
        {
            return 0;
        }

        return request.Kind switch
        {
            SimpleRequestKind.GetDocument => await ReadAsync(request, database, output),
            SimpleRequestKind.Query => await _query.AnswerAsync(request, database, body, output),
            _ => await _write.StoreAsync(request, database, body, output),
        };
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReadAsync(SimpleRequest request, Database database, PipeWriter output)
    {
        long start = _context.Metrics.BeginFast();
        int length = 0;
        int status = 0;
        try
        {
            length = await _context.Node.Consensus.ReadBarrierAsync()
                ? _get.TryWrite(request, database, output, mayReadDisk: true, out _, out status)
                : WriteNoBarrier(request, output, out status);
            return length;
        }
        finally
        {
            if (length > 0)
            {
                _context.Metrics.EndFast(_route, _reads, start, status);
            }
            else
            {
                _context.Metrics.LeaveFast();
            }
        }
    }

    private int WriteNoBarrier(SimpleRequest request, PipeWriter output, out int status)
    {
        var rejection = RavenRoute.NoBarrierRejection(_context, LocalReads.ForPrograms);
        var dateLine = _date.Line(_context.Time.GetTimestamp());
        return SimpleError.WriteNoLeader(request, rejection, _context, output, dateLine, out status);
    }

    // Whether the client knows only an older topology or client configuration. The full pipeline then tells it to fetch
    // the current one.
    private bool IsOutdated(SimpleRequest request, Database database)
    {
        try
        {
            return (request.TopologyEtag is { } topology && topology < _context.Node.Consensus.View.Etag)
                || (
                    request.ClientConfigurationEtag is { } configuration
                    && configuration < ClientConfigurationRoutes.EtagFor(_context, database)
                );
        }
        catch (DamagedException)
        {
            return true; // the full pipeline reports it
        }
    }
}
