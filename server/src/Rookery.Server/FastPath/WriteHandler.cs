using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Batches;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Support;

namespace Rookery.Server.FastPath;

/// <summary>
/// Stores the document of a simple PUT, or the documents of a batch that only stores and deletes. Answers with the same
/// status, headers and body as the routes <c>PUT docs</c> and <c>POST bulk_docs</c>. Thread-safe.
/// </summary>
internal sealed class WriteHandler(ServerContext context, DateHeader date)
{
    // Stands for the status of a request that the full pipeline must answer.
    private const int LeftToPipeline = 0;

    // The results of more operations need a lease of memory, for which only the full pipeline waits.
    private const int MaxBatchOperations = LargeRequests.BytesWithoutLease / DocumentLimits.BytesPerBatchCommand;

    private readonly RouteMetrics _putRoute = context.Metrics.ForRoute(RavenRoutes.DocumentsPattern);
    private readonly RouteMetrics _batchRoute = context.Metrics.ForRoute(RavenRoutes.BatchPattern);
    private readonly RouteTotal _total = new(context.Metrics.Writes);

    /// <summary>
    /// Stores the documents and writes the response. It may read the disk and commit on the calling thread. If it
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
        if (TryEncode(request, database, body) is not { } write)
        {
            return 0;
        }

        long start = context.Metrics.BeginFast();
        int status = StatusCodes.Status500InternalServerError;
        try
        {
            var outcome = await context.Node.Consensus.ProposeAsync(write.Command, CancellationToken.None);
            switch (outcome.Rejection)
            {
                case null:
                    status = StatusCodes.Status201Created;
                    return WriteStored(request, database, write.Batch, outcome, output);
                case { Kind: RejectionKind.OutcomeUnknown } unknown when write.MayBeRepeated:
                    // RavenDB's clients repeat a request after 504, but not after 500 (RepeatableWrite).
                    status = StatusCodes.Status504GatewayTimeout;
                    return WriteError(request, "504 Gateway Timeout"u8, RavenType.Timeout, unknown.Message, output);
                case { Kind: RejectionKind.OutcomeUnknown } unknown:
                    return WriteError(
                        request,
                        "500 Internal Server Error"u8,
                        RavenType.RavenException,
                        unknown.Message,
                        output
                    );
                case { Kind: RejectionKind.Overloaded } overloaded:
                    // Answered here: the request has waited for admission already, and the full pipeline would wait
                    // again.
                    status = StatusCodes.Status429TooManyRequests;
                    return WriteError(
                        request,
                        "429 Too Many Requests"u8,
                        RavenType.RavenException,
                        overloaded.Message,
                        output
                    );
                case { Kind: RejectionKind.ConcurrencyConflict } conflict:
                    // Answered here: a conflict is found when the command is applied, so a second proposal would be
                    // journaled too.
                    status = StatusCodes.Status409Conflict;
                    return WriteError(request, "409 Conflict"u8, RavenType.Concurrency, conflict.Message, output);
                case { Kind: RejectionKind.NoLeader } noLeader:
                    int length = SimpleError.WriteNoLeader(request, noLeader, context, output, DateLine, out status);
                    status = length == 0 ? LeftToPipeline : status;
                    return length;
                default:
                    // Nothing was stored. The full pipeline proposes the write again, and explains its rejection.
                    status = LeftToPipeline;
                    return 0;
            }
        }
        catch (Exception failure)
        {
            status = StatusCodes.Status500InternalServerError;
            context.FaultLog.LogError(LogEvents.RequestFailed, failure, "A write of documents failed");
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
                var route = request.Kind == SimpleRequestKind.Batch ? _batchRoute : _putRoute;
                context.Metrics.EndFast(route, _total, start, status);
            }
        }
    }

    // Returns null if the body cannot be stored (the full pipeline explains why), or if only the full pipeline can
    // store it.
    private EncodedWrite? TryEncode(SimpleRequest request, Database database, in ReadOnlySequence<byte> body)
    {
        try
        {
            if (body.IsSingleSegment)
            {
                return Encode(request, database, body.FirstSpan);
            }

            Span<byte> copy = stackalloc byte[SimpleRequest.MaxBodyBytes];
            body.CopyTo(copy);
            return Encode(request, database, copy[..request.BodyLength]);
        }
        catch (OutOfMemoryException)
        {
            return null; // the full pipeline fails in the same way, and reports it
        }
    }

    private EncodedWrite? Encode(SimpleRequest request, Database database, ReadOnlySpan<byte> body) =>
        request.Kind == SimpleRequestKind.Batch ? EncodeBatch(database, body) : EncodeDocument(request, database, body);

    private static EncodedWrite? EncodeDocument(SimpleRequest request, Database database, ReadOnlySpan<byte> body)
    {
        using var parser = DocumentParser.Rent();
        if (!parser.TryParse(body, out var document, out _))
        {
            return null;
        }

        var expected = ExpectedChangeVector.None;
        return new EncodedWrite(
            CommandEncoder.Put(database.Number, request.Id, expected, document, IdempotencyKey.None),
            Batch: null
        );
    }

    private EncodedWrite? EncodeBatch(Database database, ReadOnlySpan<byte> body)
    {
        bool isBatch = BatchRequestParser.TryParse(
            body,
            database.Number,
            IdempotencyKey.None,
            context.Options.BatchBytesLimit,
            out var batch,
            out _,
            context.Node.FormatLevel.Level
        );
        if (!isBatch)
        {
            return null;
        }

        // Read the operations before proposing the command. Afterwards consensus owns it.
        var operations = BatchOperation.ReadAll(batch);
        if (
            !batch.IsClusterWide
            && operations.Length is > 0 and <= MaxBatchOperations
            && Array.TrueForAll(
                operations,
                static operation => operation.Kind is OperationKind.Put or OperationKind.Delete
            )
        )
        {
            return new EncodedWrite(batch.Command, operations);
        }

        batch.Command.Dispose();
        return null;
    }

    private int WriteStored(
        SimpleRequest request,
        Database database,
        BatchOperation[]? batch,
        in CommandOutcome outcome,
        PipeWriter output
    )
    {
        using var body = ResponseBuffer.Rent();
        if (batch is not null)
        {
            WriteResults(body, database, batch, outcome);
        }
        else
        {
            var stored = outcome[0]; // a PUT is a batch of one operation
            ChangeDocument.WriteStored(body, stored.Id ?? Encoding.UTF8.GetString(request.Id), stored.Etag, database);
        }

        var head = new ResponseHead(output, "201 Created"u8, body.Length);
        head.AddJson(body.Length);
        return head.End(DateLine, body.Written.Span);
    }

    private static void WriteResults(
        ResponseBuffer body,
        Database database,
        BatchOperation[] batch,
        in CommandOutcome outcome
    )
    {
        using var json = new Utf8JsonWriter(body);
        json.WriteStartObject();
        json.WriteStartArray("Results"u8);
        for (int i = 0; i < batch.Length; i++)
        {
            // FastPathGate admits a batch only if its caller may also read.
            batch[i].WriteResult(json, database, outcome[i], mayRead: true);
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private int WriteError(
        SimpleRequest request,
        ReadOnlySpan<byte> status,
        string type,
        string message,
        PipeWriter output
    ) => SimpleError.Write(request, status, type, message, output, DateLine);

    private ReadOnlySpan<byte> DateLine => date.Line(context.Time.GetTimestamp());

    /// <summary>A write that is ready to be proposed.</summary>
    /// <param name="Command">Its command.</param>
    /// <param name="Batch">The operations of a batch; null for a PUT.</param>
    private readonly record struct EncodedWrite(CommandBuffer Command, BatchOperation[]? Batch)
    {
        /// <summary>Whether applying the write twice in a row has the same effect as once.</summary>
        public bool MayBeRepeated => Batch is null || BatchOperation.MayAllBeRepeated(Batch);
    }
}
