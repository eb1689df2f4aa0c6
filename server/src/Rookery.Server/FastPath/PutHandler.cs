using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.FastPath;

/// <summary>
/// Stores the document of a simple PUT, and answers with the same status, headers and body as the route
/// <c>PUT docs</c>. Thread-safe.
/// </summary>
internal sealed class PutHandler(ServerContext context, DateHeader date)
{
    private readonly RouteMetrics _route = context.Metrics.ForRoute(RavenRoutes.DocumentsPattern);
    private readonly RouteTotal _total = new(context.Metrics.Writes);

    /// <summary>
    /// Stores the document and writes the answer. Moves to the thread pool first, because it reads the disk and may
    /// commit on its thread. If it returns 0, it has neither stored nor written anything.
    /// </summary>
    /// <param name="request">The request. Not used after the call has begun to wait for consensus.</param>
    /// <param name="database">Its database.</param>
    /// <param name="body">The whole body.</param>
    /// <param name="output">Receives the answer; the caller flushes.</param>
    /// <returns>Length of the answer in bytes; 0 if the request needs the full pipeline.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> StoreAsync(
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

        if (Encode(request, database, body) is not { } command)
        {
            return 0;
        }

        long begun = context.Metrics.Begin(needsDocuments: true);
        var outcome = await context.Node.Consensus.ProposeAsync(command, CancellationToken.None);
        if (outcome.Rejection is { } rejection && rejection.Kind != RejectionKind.OutcomeUnknown)
        {
            // Nothing was stored. The full pipeline proposes the document again, and explains its rejection.
            context.Metrics.UndoBegin();
            return 0;
        }

        bool isStored = outcome.Rejection is null;
        int length = isStored
            ? WriteStored(request, database, outcome[0], output, date.Line(begun)) // a PUT is a batch of one operation
            : WriteUnknown(request, outcome.Rejection!, output, date.Line(begun));
        int status = isStored ? StatusCodes.Status201Created : StatusCodes.Status504GatewayTimeout;
        context.Metrics.EndFast(_route, _total, begun, status);
        return length;
    }

    private static CommandBuffer? Encode(SimpleRequest request, Database database, in ReadOnlySequence<byte> body)
    {
        if (body.IsSingleSegment)
        {
            return Encode(request, database, body.FirstSpan);
        }

        Span<byte> copy = stackalloc byte[SimpleRequest.MaxBodyBytes];
        body.CopyTo(copy);
        return Encode(request, database, copy[..request.BodyLength]);
    }

    // Null if the body is no document: the full pipeline says why.
    private static CommandBuffer? Encode(SimpleRequest request, Database database, ReadOnlySpan<byte> body)
    {
        using var parser = DocumentParser.Rent();
        return parser.TryParse(body, out var document, out _)
            ? CommandEncoder.Put(database.Number, request.Id, ExpectedChangeVector.None, document, IdempotencyKey.None)
            : null;
    }

    private static int WriteStored(
        SimpleRequest request,
        Database database,
        in OperationResult stored,
        PipeWriter output,
        ReadOnlySpan<byte> dateLine
    )
    {
        using var body = ResponseBuffer.Rent();
        ChangeDocument.WriteStored(body, stored.Id ?? Encoding.UTF8.GetString(request.Id), stored.Etag, database);
        return Write(output, "201 Created"u8, body.Written.Span, dateLine);
    }

    private static int WriteUnknown(
        SimpleRequest request,
        Rejection unknown,
        PipeWriter output,
        ReadOnlySpan<byte> dateLine
    ) =>
        Write(
            output,
            "504 Gateway Timeout"u8,
            ErrorResponse.Encode(Encoding.ASCII.GetString(request.Target), RavenType.Timeout, unknown.Message),
            dateLine
        );

    private static int Write(
        PipeWriter output,
        ReadOnlySpan<byte> status,
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> dateLine
    )
    {
        var head = new ResponseHead(output, status);
        head.AddJson(body.Length);
        int headLength = head.End(dateLine);
        output.Write(body);
        return headLength + body.Length;
    }
}
