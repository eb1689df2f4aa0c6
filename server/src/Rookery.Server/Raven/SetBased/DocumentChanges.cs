using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Patching;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.SetBased;

/// <summary>
/// Changes the documents that a query finds, in batches that are proposed like any write. No snapshot is held while a
/// batch is proposed, so a batch changes the version of each document that it finds at apply. A document that another
/// client writes meanwhile may be missed, or found in its new version. No document is changed twice. If the patch
/// itself stores documents, those stored since the beginning are left out: otherwise it could find new ones without
/// end.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="database">The database.</param>
/// <param name="request">The change.</param>
/// <param name="operation">Counts the progress.</param>
/// <param name="announce">Reports the progress to watchers.</param>
internal sealed class DocumentChanges(
    ServerContext context,
    Database database,
    ChangeRequest request,
    SetOperation operation,
    Action<LongOperation> announce
)
{
    private const int MaxDocuments = 256;

    // Kept small, because apply holds several copies of each patched document.
    private const long MaxDocumentBytes = 512 << 10;
    private const int MaxCommandBytes = 896 << 10;

    private readonly List<byte[]> _ids = [];
    private readonly int _maxDocuments = (int)
        Math.Clamp(
            Math.Min(
                // About 64 bytes for an operation besides its patch.
                MaxCommandBytes / ((request.Patch?.Length ?? 0) + 64),
                request.MaxPerSecond == 0 ? MaxDocuments : request.MaxPerSecond
            ),
            1,
            MaxDocuments
        );

    private readonly long _startedAt = context.Time.GetTimestamp();
    private long _documentBytes;

    /// <summary>Changes all documents.</summary>
    /// <param name="ending">Ends the operation between two batches.</param>
    /// <exception cref="OperationCanceledException">The operation was ended.</exception>
    /// <exception cref="RefusedException">A batch was refused.</exception>
    /// <exception cref="QueryException">The query would cost more than one query may.</exception>
    public async Task RunAsync(CancellationToken ending)
    {
        // The HTTP request has ended. The query needs a context only for its cancellation token.
        var detached = new DefaultHttpContext { RequestAborted = ending };
        using var sink = new DocumentResponse(detached, context.LargeRequests);
        using var answer = await context.Queries.ExecuteAsync(database, request.Plan, sink);
        await CountAsync(answer);
        var results = answer.Results;
        long lastEtag = StoresDocuments ? database.LastEtag : long.MaxValue;
        while (await results.MoveNextAsync())
        {
            ending.ThrowIfCancellationRequested();
            if (StoresDocuments && EtagOf(results) > lastEtag)
            {
                continue;
            }

            _ids.Add(results.Id.ToArray());
            _documentBytes += results.DocumentBytes;
            if (_ids.Count >= _maxDocuments || _documentBytes >= MaxDocumentBytes)
            {
                results.Pause();
                await StoreAsync(detached, ending);
            }
        }

        results.Pause();
        await StoreAsync(detached, ending);
    }

    private bool StoresDocuments => request.Patch is not null && PatchScript.ReservesEtags(request.Patch);

    private static long EtagOf(IQueryResults results)
    {
        bool exists = results.Reader.TryGetDocument(results.Id, out var document);
        using (document)
        {
            return exists ? document.Etag : 0;
        }
    }

    private async Task CountAsync(QueryAnswer answer)
    {
        long total = await answer.CountAheadAsync(correctsTotal: false);
        var compiled = answer.Plan.Compiled!;
        operation.Total = Math.Min(Math.Max(0, total - compiled.Offset), compiled.Limit ?? long.MaxValue);
        announce(operation);
    }

    private async Task StoreAsync(HttpContext http, CancellationToken ending)
    {
        if (_ids.Count == 0)
        {
            return;
        }

        using var lease = context.LargeRequests.Begin(http);
        long patchedBytes = request.Patch is null
            ? 0
            : (_documentBytes + request.Patch.Length) * LargeRequests.CopiesOfPatch;
        if (patchedBytes > LargeRequests.BytesWithoutLease)
        {
            await lease.GrowAsync(patchedBytes, waitsLong: true, ending);
        }

        await StoreAsync(start: 0, _ids.Count, ending);
        _ids.Clear();
        _documentBytes = 0;
        await KeepPaceAsync(ending);
    }

    /// <summary>
    /// Stores a part of the batch. If the part is too large or a patch in it is refused, stores its halves one after
    /// the other, so that all documents before the failing one are changed.
    /// </summary>
    private async Task StoreAsync(int start, int count, CancellationToken ending)
    {
        var outcome = await ProposeAsync(start, count, ending);
        switch (outcome.Rejection)
        {
            case null:
                Record(start, count, outcome);
                break;
            case { } rejection when count > 1 && IsOfOneDocument(rejection):
                await StoreAsync(start, count / 2, ending);
                await StoreAsync(start + (count / 2), count - (count / 2), ending);
                break;
            case { } rejection:
                ending.ThrowIfCancellationRequested();
                throw RavenErrors.Refuse(rejection);
        }
    }

    /// <summary>
    /// Whether a smaller part may be stored. Only a patch that stores documents or counts can be refused for another
    /// reason than its size or its script.
    /// </summary>
    private bool IsOfOneDocument(Rejection rejection) =>
        rejection.Kind switch
        {
            RejectionKind.TooLarge or RejectionKind.PatchFailed => true,
            RejectionKind.DocumentMissing
            or RejectionKind.ConcurrencyConflict
            or RejectionKind.CounterOverflow
            or RejectionKind.Invalid => StoresDocuments,
            _ => false,
        };

    /// <summary>
    /// Proposes a part of the batch, and retries while the node is overloaded. In a cluster the batch has an
    /// idempotency key, so that it is applied once even if the leader changes.
    /// </summary>
    private Task<CommandOutcome> ProposeAsync(int start, int count, CancellationToken ending) =>
        ProposalRetry.ProposePatientlyAsync(context.Node.Consensus, () => Encode(start, count), context.Time, ending);

    private CommandBuffer Encode(int start, int count)
    {
        var key = context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None;
        using var batch = new BatchWriter(CommandKind.Batch, database.Number, key);
        foreach (byte[] id in _ids.Slice(start, count))
        {
            if (request.Patch is { } patch)
            {
                batch.Patch(id, ExpectedChangeVector.None, patch, returnsDocument: false, skipsOnMismatch: false);
            }
            else
            {
                batch.Delete(id, ExpectedChangeVector.None);
            }
        }

        return batch.Complete();
    }

    private void Record(int start, int count, CommandOutcome outcome)
    {
        operation.AddProcessed(count);
        for (int i = 0; request.WantsDetails && i < count; i++)
        {
            var result = outcome[i];
            string status = request.Patch is null ? result.Status.ToString() : PatchResult.StatusName(result.Status);
            if (
                !operation.TryAddDetail(
                    Encoding.UTF8.GetString(_ids[start + i]),
                    result.Etag == 0 ? "" : database.ChangeVectorOf(result.Etag),
                    status
                )
            )
            {
                throw new RefusedException(
                    StatusCodes.Status400BadRequest,
                    RavenType.RavenException,
                    "The details of all these documents need more memory than there is for queries: leave out "
                        + "'details', or narrow the query."
                );
            }
        }

        announce(operation);
    }

    private async Task KeepPaceAsync(CancellationToken ending)
    {
        ending.ThrowIfCancellationRequested();
        if (request.MaxPerSecond == 0)
        {
            return;
        }

        var due =
            TimeSpan.FromSeconds((double)operation.Processed / request.MaxPerSecond)
            - context.Time.GetElapsedTime(_startedAt);
        if (due > TimeSpan.Zero)
        {
            await Task.Delay(due, context.Time, ending);
        }
    }
}
