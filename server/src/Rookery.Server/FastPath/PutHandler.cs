using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Support;

namespace Rookery.Server.FastPath;

/// <summary>
/// Stores the document of a simple PUT, and answers with the same status, headers and body as the route
/// <c>PUT docs</c>. Thread-safe.
/// </summary>
internal sealed class PutHandler(ServerContext context, DateHeader date)
{
    private const int LeftToPipeline = 0;

    private readonly RouteMetrics _route = context.Metrics.ForRoute(RavenRoutes.DocumentsPattern);
    private readonly RouteTotal _total = new(context.Metrics.Writes);

    /// <summary>
    /// Stores the document and writes the response. It may read the disk and commit on the calling thread. If it
    /// returns 0, it has neither stored nor written anything.
    /// </summary>
    /// <param name="request">The request. It must not change until the call completes.</param>
    /// <param name="database">Its database.</param>
    /// <param name="body">The whole body.</param>
    /// <param name="output">Receives the response; the caller flushes.</param>
    /// <returns>Length of the response in bytes; 0 if the request needs the full pipeline.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> StoreAsync(
        SimpleRequest request,
        Database database,
        ReadOnlySequence<byte> body,
        PipeWriter output
    )
    {
        if (TryEncode(request, database, body) is not { } command)
        {
            return 0;
        }

        long begun = context.Metrics.BeginFast();
        int status = StatusCodes.Status500InternalServerError;
        try
        {
            var outcome = await context.Node.Consensus.ProposeAsync(command, CancellationToken.None);
            switch (outcome.Rejection)
            {
                case null:
                    status = StatusCodes.Status201Created;
                    return WriteStored(request, database, outcome[0], output); // a PUT is a batch of one operation
                case { Kind: RejectionKind.OutcomeUnknown } unknown:
                    status = StatusCodes.Status504GatewayTimeout;
                    return WriteError(request, "504 Gateway Timeout"u8, RavenType.Timeout, unknown.Message, output);
                case { Kind: RejectionKind.Overloaded } overloaded:
                    // Not left to the full pipeline, because the request has waited for admission already.
                    status = StatusCodes.Status429TooManyRequests;
                    return WriteError(
                        request,
                        "429 Too Many Requests"u8,
                        RavenType.RavenException,
                        overloaded.Message,
                        output
                    );
                default:
                    // Nothing was stored. The full pipeline proposes the document again, and explains its rejection.
                    status = LeftToPipeline;
                    return 0;
            }
        }
        catch (Exception failure)
        {
            status = StatusCodes.Status500InternalServerError;
            context.FaultLog.LogError(LogEvents.RequestFailed, failure, "A PUT of a document failed");
            return WriteError(
                request,
                "500 Internal Server Error"u8,
                RavenType.RavenException,
                RequestGate.OwnFault,
                output
            );
        }
        finally
        {
            if (status == LeftToPipeline)
            {
                context.Metrics.LeaveFast();
            }
            else
            {
                context.Metrics.EndFast(_route, _total, begun, status);
            }
        }
    }

    private static CommandBuffer? TryEncode(SimpleRequest request, Database database, in ReadOnlySequence<byte> body)
    {
        try
        {
            return Encode(request, database, body);
        }
        catch (OutOfMemoryException)
        {
            return null; // the full pipeline meets it too, and answers it
        }
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

    private int WriteStored(SimpleRequest request, Database database, in OperationResult stored, PipeWriter output)
    {
        using var body = ResponseBuffer.Rent();
        ChangeDocument.WriteStored(body, stored.Id ?? Encoding.UTF8.GetString(request.Id), stored.Etag, database);
        var head = new ResponseHead(output, "201 Created"u8, body.Length);
        head.AddJson(body.Length);
        return head.End(DateLine, body.Written.Span);
    }

    private int WriteError(
        SimpleRequest request,
        ReadOnlySpan<byte> status,
        string type,
        string message,
        PipeWriter output
    ) => SimpleError.Write(request, status, type, message, output, DateLine);

    private ReadOnlySpan<byte> DateLine => date.Line(context.Time.GetTimestamp());
}
