using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// Walks over all documents with revisions, and proposes a change for each that needs one: the configuration is
/// enforced, or the document reverted to a time. No snapshot is held while a batch is proposed, so apply decides anew.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="database">The database.</param>
/// <param name="request">What to do.</param>
/// <param name="operation">Counts the progress.</param>
/// <param name="announce">Reports the progress to watchers.</param>
internal sealed class RevisionsWork(
    ServerContext context,
    Database database,
    RevisionsRequest request,
    RevisionsOperation operation,
    Action<LongOperation> announce
)
{
    private const int MaxDocuments = 128;

    // A batch with more of them could exceed what apply does for one command.
    private const long MaxRevisions = 16 << 10;
    private const long MaxBytes = 2 << 20;

    private readonly List<(byte[] Id, RevisedAction Action, long Etag)> _changes = [];
    private readonly long _startedAt = context.Time.GetTimestamp();
    private byte[]? _after; // the last id that was looked at
    private long _scanned;

    private enum RevisedAction
    {
        Enforce,
        Revert,
    }

    /// <summary>Works on all documents.</summary>
    /// <param name="ending">Ends the work between two batches.</param>
    /// <exception cref="OperationCanceledException">The work was ended.</exception>
    /// <exception cref="RefusedException">A batch was refused.</exception>
    public async Task RunAsync(CancellationToken ending)
    {
        bool isMore = true;
        while (isMore)
        {
            ending.ThrowIfCancellationRequested();
            isMore = Gather();
            await StoreAsync(0, _changes.Count, ending);
            _changes.Clear();
            announce(operation);
            await KeepPaceAsync(ending);
        }
    }

    // Gathers the changes of one batch; false at the last document.
    private bool Gather()
    {
        long revisions = 0;
        long bytes = 0;
        long scannedBefore = _scanned;
        using var reader = database.OpenReader();
        using var walk = new RevisionReader(reader);
        while (walk.TrySelectNext(ref _after))
        {
            _scanned++;
            operation.AddScanned(walk.Count);
            revisions += walk.Count;
            if (Decide(walk) is { } change)
            {
                bytes += walk.Length;
                _changes.Add(change);
            }

            if (
                _changes.Count >= MaxDocuments
                || revisions >= MaxRevisions
                || bytes >= MaxBytes
                || (request.MaxPerSecond > 0 && _scanned - scannedBefore >= request.MaxPerSecond)
            )
            {
                return true;
            }
        }

        return false;
    }

    private (byte[], RevisedAction, long)? Decide(RevisionReader walk)
    {
        if (!walk.MoveNext() || !request.Concerns(walk.View.Collection))
        {
            return null;
        }

        byte[] id = walk.View.Id.ToArray();
        if (request.Ticks is not { } ticks)
        {
            return (id, RevisedAction.Enforce, 0);
        }

        if (Math.Max(walk.LastModifiedTicks, walk.ReadDocumentTicks()) <= ticks)
        {
            return null;
        }

        if (walk.TryFindAt(ticks))
        {
            return walk.IsDeletion ? Skip(walk) : (id, RevisedAction.Revert, walk.Etag);
        }

        // Older revisions may have been removed by number or age. Then the oldest one stands for them, as in RavenDB.
        if (walk.MayLackOldest && walk.TryFindOldest() && !walk.IsDeletion)
        {
            return (id, RevisedAction.Revert, walk.Etag);
        }

        return Skip(walk);
    }

    // Without a revision of that time, or with that of a deletion, the document may have existed: without a rule it had
    // versions that are no revisions, and revisions can be removed. So it is not deleted.
    private (byte[], RevisedAction, long)? Skip(RevisionReader walk)
    {
        if (walk.ReadDocumentTicks() != 0)
        {
            operation.AddSkipped();
        }

        return null;
    }

    // If a batch is too large, stores its halves one after the other.
    private async Task StoreAsync(int start, int count, CancellationToken ending)
    {
        if (count == 0)
        {
            return;
        }

        var outcome = await ProposeAsync(start, count, ending);
        switch (outcome.Rejection)
        {
            case null:
                if (Record(start, count, outcome) is { Count: > 0 } unfinished)
                {
                    ending.ThrowIfCancellationRequested();
                    int next = _changes.Count;
                    _changes.AddRange(unfinished);
                    await StoreAsync(next, unfinished.Count, ending);
                }

                break;
            // A revision may have been removed meanwhile.
            case { Kind: RejectionKind.TooLarge or RejectionKind.Invalid } when count > 1:
                await StoreAsync(start, count / 2, ending);
                await StoreAsync(start + (count / 2), count - (count / 2), ending);
                break;
            case { Kind: RejectionKind.Invalid }:
                operation.AddSkipped();
                break;
            // The document stays as it is, and the others get their turn.
            case { Kind: RejectionKind.TooLarge } rejection:
                operation.AddWarning(_changes[start].Id, rejection.Message);
                break;
            case { } rejection:
                ending.ThrowIfCancellationRequested();
                throw RavenErrors.Refuse(rejection);
        }
    }

    private Task<CommandOutcome> ProposeAsync(int start, int count, CancellationToken ending) =>
        ProposalRetry.ProposePatientlyAsync(context.Node.Consensus, () => Encode(start, count), context.Time, ending);

    private CommandBuffer Encode(int start, int count)
    {
        var key = context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None;
        using var batch = new BatchWriter(CommandKind.Batch, database.Number, key);
        foreach (var (id, action, etag) in _changes.Slice(start, count))
        {
            switch (action)
            {
                case RevisedAction.Revert:
                    batch.Revision(id, new RevisionCommand { Action = RevisionAction.Revert, Etag = etag });
                    break;
                default:
                    batch.Revision(
                        id,
                        new RevisionCommand { Action = RevisionAction.Enforce, IncludesForced = request.IncludesForced }
                    );
                    break;
            }
        }

        return batch.Complete();
    }

    // Returns the changes of which one command carried out a part, because there are very many revisions.
    private List<(byte[] Id, RevisedAction Action, long Etag)> Record(int start, int count, CommandOutcome outcome)
    {
        List<(byte[] Id, RevisedAction Action, long Etag)> unfinished = [];
        for (int i = 0; i < count; i++)
        {
            var change = _changes[start + i];
            bool isEnforced = change.Action == RevisedAction.Enforce;
            operation.AddChanged(isEnforced ? outcome[i].Low : 1);
            if (isEnforced && outcome[i].High != 0)
            {
                unfinished.Add(change);
            }
        }

        return unfinished;
    }

    private async Task KeepPaceAsync(CancellationToken ending)
    {
        if (request.MaxPerSecond == 0)
        {
            return;
        }

        var due =
            TimeSpan.FromSeconds((double)_scanned / request.MaxPerSecond) - context.Time.GetElapsedTime(_startedAt);
        if (due > TimeSpan.Zero)
        {
            await Task.Delay(due, context.Time, ending);
        }
    }
}
