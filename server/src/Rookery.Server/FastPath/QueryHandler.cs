using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.Queries;
using Rookery.Server.Support;
using Rookery.Storage;

namespace Rookery.Server.FastPath;

/// <summary>
/// Answers a simple query with the same status, headers and body as the route <c>POST queries</c>, if it needs no wait
/// for an index, and the answer is short and quick. Thread-safe.
/// </summary>
/// <remarks>
/// Whether a query meets these conditions is known only after an attempt. If it does not, the full pipeline executes
/// it again, and also reports the errors of queries. A failed attempt costs a read barrier and at most
/// <see cref="MaxDuration"/>; <see cref="QueryAttempts"/> limits how often that happens.
/// </remarks>
internal sealed class QueryHandler(ServerContext context, DateHeader date)
{
    /// <summary>
    /// A query that takes longer after the read barrier is left to the full pipeline, which notices a client that
    /// leaves.
    /// </summary>
    public static readonly TimeSpan MaxDuration = TimeSpan.FromMilliseconds(50);

    private readonly RouteMetrics _route = context.Metrics.ForRoute(RavenRoutes.QueriesPattern);
    private readonly RouteTotal _total = new(context.Metrics.Reads);
    private readonly QueryAttempts _attempts = new(context.Time);

    /// <summary>
    /// Answers the query and writes the response. It may read the disk on the calling thread. If it returns 0, it has
    /// written nothing.
    /// </summary>
    /// <param name="request">The request. It must not change until the call completes.</param>
    /// <param name="database">Its database.</param>
    /// <param name="body">The whole body.</param>
    /// <param name="output">Receives the response; the caller flushes.</param>
    /// <returns>Length of the response in bytes; 0 if the request needs the full pipeline.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> AnswerAsync(
        SimpleRequest request,
        Database database,
        ReadOnlySequence<byte> body,
        PipeWriter output
    )
    {
        if (TryRead(body) is not { } query || !_attempts.MayTry(query.Text))
        {
            return 0;
        }

        long requestStart = context.Metrics.BeginFast();
        (int Length, int Status) response = default;
        try
        {
            response = await context.Node.Consensus.ReadBarrierAsync()
                ? await TryAnswerAsync(request, database, query, body, output)
                : WriteNoBarrier(request, output);
        }
        catch (IndexDamagedException damaged)
        {
            // Answered here: this attempt began a rebuild of the index, so the full pipeline could answer from an index
            // that is not complete yet.
            response = (WriteDamaged(request, damaged, output), StatusCodes.Status503ServiceUnavailable);
        }
        catch (Exception failure) when (IsReportedByPipeline(failure))
        {
            // Nothing was written. The full pipeline meets the same failure and reports it.
            response = default;
        }
        catch (Exception failure)
        {
            context.FaultLog.LogError(LogEvents.RequestFailed, failure, "A query failed");
            response = (WriteFault(request, output), StatusCodes.Status500InternalServerError);
        }

        if (response.Length == 0)
        {
            _attempts.AddFailure(query.Text);
            context.Metrics.LeaveFast();
            return 0;
        }

        _attempts.AddSuccess();
        context.Metrics.EndFast(_route, _total, requestStart, response.Status);
        return response.Length;
    }

    private static bool IsReportedByPipeline(Exception failure) =>
        failure
            is QueryException
                or RefusedException
                or OperationCanceledException
                or DamagedException
                or StoredDocumentException
                or DatabaseGoneException
                or SnapshotEndedException
                or OutOfMemoryException;

    private static QueryRequest? TryRead(in ReadOnlySequence<byte> body)
    {
        if (!body.IsSingleSegment)
        {
            return null;
        }

        try
        {
            var query = QueryBodyJson.Read(body.FirstSpan);

            // Before compare-exchange values are read, a command of the log must delete the expired ones. Only the full
            // pipeline proposes that command.
            bool readsValues = QueryTags.MayReadCompareExchange(query.Text);
            return query.HeldBytes <= LargeRequests.BytesWithoutLease && !readsValues ? query : null;
        }
        catch (Exception failure) when (failure is RefusedException or OutOfMemoryException)
        {
            return null;
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<(int Length, int Status)> TryAnswerAsync(
        SimpleRequest request,
        Database database,
        QueryRequest query,
        ReadOnlySequence<byte> body,
        PipeWriter output
    )
    {
        long started = context.Time.GetTimestamp();
        var tags = new QueryTags(database, body.FirstSpan, query.Text);
        long lastEtag = database.LastEtag;
        var expiries = tags.ReadExpiries(database);
        using var plan = context.Queries.Plan(database, query);
        if (plan.HasReferences || plan.HasTimings)
        {
            return default;
        }

        string? answerTag = tags.TagOf(plan, lastEtag, expiries);
        if (answerTag is not null && Ascii.Equals(request.KnownTag, answerTag))
        {
            return (WriteNotModified(answerTag, output), StatusCodes.Status304NotModified);
        }

        using var sink = new ShortAnswer(context, started);
        if (!await TryCollectAsync(database, plan, sink, started))
        {
            return default;
        }

        return (WriteCollected(answerTag, sink.Buffer, output), StatusCodes.Status200OK);
    }

    // Returns false if the answer needs the full pipeline.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<bool> TryCollectAsync(Database database, QueryPlan plan, ShortAnswer sink, long started)
    {
        using var answer = await context.Queries.TryExecuteAtOnceAsync(database, plan, sink);
        if (answer is null)
        {
            return false;
        }

        var buffer = sink.Buffer;
        var results = answer.Results;
        QueryEnvelope.Begin(buffer);
        for (bool isFirst = true; await results.MoveNextAsync(); isFirst = false)
        {
            QueryEnvelope.WriteResult(buffer, answer, isFirst);
            if (buffer.IsPartDue || sink.IsOver)
            {
                return false;
            }
        }

        long total = await results.CountAsync();
        QueryEnvelope.BeginIncludes(buffer);
        QueryEnvelope.EndIncludes(buffer);
        long milliseconds = QueryTimings.RoundUp(context.Time.GetElapsedTime(started));
        QueryEnvelope.End(buffer, answer, total, milliseconds, context);
        return buffer.Length <= LargeRequests.BytesWithoutLease; // highlights and score explanations may be long
    }

    private (int Length, int Status) WriteNoBarrier(SimpleRequest request, PipeWriter output)
    {
        var rejection = RavenRoute.NoBarrierRejection(context, LocalReads.ForPrograms);
        int length = SimpleError.WriteNoLeader(request, rejection, context, output, DateLine, out int status);
        return (length, status);
    }

    private int WriteDamaged(SimpleRequest request, IndexDamagedException damaged, PipeWriter output)
    {
        var refused = IndexCommand.Damaged(damaged);
        return SimpleError.Write(request, "503 Service Unavailable"u8, refused.Type, refused.Message, output, DateLine);
    }

    private int WriteFault(SimpleRequest request, PipeWriter output) =>
        SimpleError.Write(
            request,
            "500 Internal Server Error"u8,
            RavenType.RavenException,
            RequestGate.OwnFault,
            output,
            DateLine
        );

    private int WriteNotModified(string tag, PipeWriter output)
    {
        var head = new ResponseHead(output, "304 Not Modified"u8, bodyLength: 0);
        AddTag(ref head, tag);
        return head.End(DateLine, body: []);
    }

    private int WriteCollected(string? tag, ResponseBuffer body, PipeWriter output)
    {
        var head = new ResponseHead(output, "200 OK"u8, body.Length);
        head.AddJson(body.Length);
        if (tag is not null)
        {
            AddTag(ref head, tag);
        }

        return head.End(DateLine, body.Written.Span);
    }

    private static void AddTag(ref ResponseHead head, string tag)
    {
        Span<byte> bytes = stackalloc byte[SimpleRequest.MaxTagBytes];
        head.Add("ETag: "u8, bytes[..Encoding.ASCII.GetBytes(tag, bytes)]);
    }

    private ReadOnlySpan<byte> DateLine => date.Line(context.Time.GetTimestamp());

    /// <summary>Collects one answer, and stops the query if its answer becomes long or takes long.</summary>
    private sealed class ShortAnswer(ServerContext context, long started) : IAnswerSink, IDisposable
    {
        private static readonly CancellationToken LeftToPipeline = new(canceled: true);

        public ResponseBuffer Buffer { get; } = ResponseBuffer.Rent();

        // The query reads this token at each check of its limits.
        public CancellationToken Disconnected => IsOver ? LeftToPipeline : CancellationToken.None;

        /// <summary>Whether the answer takes too long, or the node stops.</summary>
        public bool IsOver =>
            context.Time.GetElapsedTime(started) > MaxDuration || context.Stopping.IsCancellationRequested;

        public bool TryReserve(long bytes) => Buffer.Length + bytes <= LargeRequests.BytesWithoutLease;

        public Task WaitForMemoryAsync(long bytes) => Task.FromCanceled(LeftToPipeline);

        public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) =>
            TryReserve(bytes) ? new ValueTask<bool>(true) : ValueTask.FromCanceled<bool>(LeftToPipeline);

        // Only called during waits, and this sink never waits.
        public void AbortConnection() { }

        public void Dispose() => Buffer.Dispose();
    }
}
