using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Batches;

/// <summary>The wait that a batch requests after its commit, until indexes have indexed its documents.</summary>
/// <param name="Timeout">Longest wait.</param>
/// <param name="Throws">Whether a timeout is answered with an error. The batch is stored in either case.</param>
/// <param name="Names">Names of the indexes; if empty, all indexes of the collections that the batch changed.</param>
internal sealed record IndexWait(TimeSpan Timeout, bool Throws, IReadOnlyList<string> Names)
{
    // The default of RavenDB's clients.
    private static readonly TimeSpan UsualTimeout = TimeSpan.FromSeconds(15);

    private const string NodeStops = "The batch is stored. The wait for its indexes ended early: the node is stopping.";

    /// <summary>Reads waitForIndexesTimeout, waitForIndexThrow and waitForSpecificIndex.</summary>
    /// <returns>Null if the request asks for no wait.</returns>
    /// <exception cref="RefusedException">A parameter is invalid: 400.</exception>
    public static IndexWait? Read(QueryParameters parameters)
    {
        var names = new List<string>();
        foreach (var parameter in parameters)
        {
            if (parameter.Is("waitForSpecificIndex") && parameter.Text() is { Length: > 0 } name)
            {
                names.Add(name);
            }
        }

        bool throws = parameters.Text("waitForIndexThrow") is null || parameters.Flag("waitForIndexThrow");
        if (ReadDuration(parameters, "waitForIndexesTimeout") is { } timeout)
        {
            return new IndexWait(timeout, throws, names);
        }

        return names.Count == 0 ? null : new IndexWait(UsualTimeout, throws, names);
    }

    /// <summary>Reads a duration; null without one.</summary>
    /// <exception cref="RefusedException">The value is not a duration: 400.</exception>
    public static TimeSpan? ReadDuration(QueryParameters parameters, string name)
    {
        if (parameters.Text(name) is not { Length: > 0 } text)
        {
            return null;
        }

        return DurationText.TryParse(text, out var duration)
            ? duration
            : throw RefusedException.BadRequest(
                $"The parameter '{name}' must be milliseconds or a TimeSpan like 00:00:05, not '{text}'."
            );
    }

    /// <summary>Checks, before anything is stored, that the named indexes exist.</summary>
    /// <exception cref="RefusedException">There is no index with one of the names: 404.</exception>
    public async ValueTask CheckAsync(ServerContext context, Database database)
    {
        // A lagging follower may not know the indexes yet.
        if (Names.Count > 0 && !await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(context));
        }

        IndexCommand.Find(database, Names);
    }

    /// <summary>Waits for the indexes.</summary>
    /// <param name="context">The server.</param>
    /// <param name="database">Database of the batch.</param>
    /// <param name="collections">Collections that the batch changed; null if that is not known for all
    /// operations.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="RefusedException">An index did not catch up in time, or before the node stops.</exception>
    public async Task WaitAsync(
        ServerContext context,
        Database database,
        IReadOnlyList<string>? collections,
        CancellationToken cancellationToken
    )
    {
        // After the barrier this node has applied the batch, whichever member was the leader.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            if (Throws)
            {
                throw new RefusedException(
                    StatusCodes.Status500InternalServerError,
                    RavenType.BatchTimeout,
                    context.Stopping.IsCancellationRequested
                        ? NodeStops
                        : "The batch is stored. Whether the indexes include it is unknown: no leader confirmed that "
                            + "this node is up to date."
                );
            }

            return;
        }

        string[] names =
            Names.Count > 0
                ? [.. Names]
                :
                [
                    .. ShownIndex
                        .All(context.Indexes, database)
                        .Where(index => Concerns(index, collections))
                        .Select(static index => index.Record.Name),
                ];
        bool[] reached;
        try
        {
            reached = await Task.WhenAll(
                names.Select(name => CatchesUpAsync(context, database, name, collections, cancellationToken))
            );
        }
        catch (OperationCanceledException) when (context.Stopping.IsCancellationRequested)
        {
            // The batch is stored. Report the failed wait only if the client asked for it.
            if (Throws)
            {
                throw new RefusedException(StatusCodes.Status500InternalServerError, RavenType.BatchTimeout, NodeStops);
            }

            return;
        }

        if (Throws && Array.IndexOf(reached, false) is >= 0 and var late)
        {
            string name = names[late];
            string why = IndexDelay.Why(context.Indexes, database, name, Timeout, whilePausedOrDisabled: true);
            throw new RefusedException(
                StatusCodes.Status500InternalServerError,
                RavenType.BatchTimeout,
                $"The batch is stored, but the server could not verify that its indexes include it. The index '{name}' "
                    + $"{why}."
            );
        }
    }

    private async Task<bool> CatchesUpAsync(
        ServerContext context,
        Database database,
        string name,
        IReadOnlyList<string>? collections,
        CancellationToken cancellationToken
    )
    {
        long startedAt = context.Time.GetTimestamp();
        long etag = FreshEtag.Of(database, context.Indexes, name);
        var remaining = Timeout;
        bool isOpen = context.Indexes.ReadPosition(database, name) is not null;
        if (!isOpen && context.Indexes.WhyNotMaintained(database, name) is not null)
        {
            return false; // the index will not catch up, so do not wait
        }

        if (!isOpen && Names.Count == 0)
        {
            // Once this node has opened the index, it also knows the collections of documents that the index loads.
            if (
                !await context.Indexes.WaitAsync(
                    database,
                    name,
                    etag: 0,
                    remaining,
                    cancellationToken,
                    whilePausedOrDisabled: true
                )
            )
            {
                return false;
            }

            if (!ShownIndex.Named(context.Indexes, database, [name]).Exists(index => Concerns(index, collections)))
            {
                return true;
            }

            remaining -= context.Time.GetElapsedTime(startedAt);
        }

        return await context.Indexes.WaitAsync(
            database,
            name,
            etag,
            remaining,
            cancellationToken,
            whilePausedOrDisabled: true
        );
    }

    // As in RavenDB, a batch waits for a disabled index only if the request names the index. If this node does not
    // maintain an index that may cover the changed documents, the wait fails: otherwise the client would conclude that
    // its queries find the changes.
    private static bool Concerns(ShownIndex index, IReadOnlyList<string>? collections) =>
        !index.Record.Settings.IsDisabled
        && !index.IsReplacement
        && (
            index.Status is { } status
                ? Concerns(status, collections)
                : collections is null
                    || CollectionsOf(index) is not { } own
                    || own.Contains(AutoIndexDefinition.AllDocuments, StringComparer.Ordinal)
                    || own.Intersect(collections, IgnoredCase.OfCollections).Any()
        );

    // Reads the collections of an index that is not open on this node from its definition. Null if they cannot be
    // determined.
    private static IReadOnlyList<string>? CollectionsOf(ShownIndex index) =>
        index.IsAutomatic ? index.Collections : StaticIndexDefinition.TryReadCollections(index.Record.Definition);

    private static bool Concerns(IndexStatus status, IReadOnlyList<string>? collections) =>
        status.State is not IndexState.Disabled
        && (
            collections is null
            || status.Collections.Count == 0
            || status.LoadedCollections.Contains(AutoIndexDefinition.AllDocuments, StringComparer.Ordinal)
            || status
                .Collections.Concat(status.LoadedCollections)
                .Intersect(collections, IgnoredCase.OfCollections)
                .Any()
        );
}
