using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Batches;

/// <summary>What a batch asked to wait for behind its commit: that indexes follow the documents through it.</summary>
/// <param name="Timeout">How long at most.</param>
/// <param name="Throws">Whether the batch is answered with an error when they do not come so far in time; it is stored
/// all the same.</param>
/// <param name="Names">Which indexes; none: those of the collections that it changed.</param>
internal sealed record IndexWait(TimeSpan Timeout, bool Throws, IReadOnlyList<string> Names)
{
    // As RavenDB's clients have it.
    private static readonly TimeSpan UsualTimeout = TimeSpan.FromSeconds(15);

    private const string NodeStops =
        "The batch is stored. Its indexes were not waited for any longer: the node is stopping.";

    private static readonly TimeSpan LongestTimeout = TimeSpan.FromHours(1);

    /// <summary>Reads waitForIndexesTimeout, waitForIndexThrow and waitForSpecificIndex.</summary>
    /// <returns>Null when nothing is to be waited for.</returns>
    /// <exception cref="RefusedException">What stands there cannot be meant.</exception>
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

        if (ReadDuration(parameters, "waitForIndexesTimeout") is not { } timeout)
        {
            return names.Count == 0 ? null : new IndexWait(UsualTimeout, true, names);
        }

        return new IndexWait(
            timeout < LongestTimeout ? timeout : LongestTimeout,
            parameters.Text("waitForIndexThrow") is null || parameters.Flag("waitForIndexThrow"),
            names
        );
    }

    /// <summary>Reads a duration; null when there is none.</summary>
    /// <exception cref="RefusedException">It is no duration.</exception>
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

    /// <summary>Refuses, before anything is stored, to wait for an index that there is not.</summary>
    /// <exception cref="RefusedException">There is none of a name.</exception>
    public async ValueTask CheckAsync(ServerContext context, Database database)
    {
        // A follower that is behind may not know the indexes yet.
        if (Names.Count > 0 && !await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NotFresh(context));
        }

        IndexCommand.Find(database, Names);
    }

    /// <summary>Waits.</summary>
    /// <param name="context">The server.</param>
    /// <param name="database">Where the batch was stored.</param>
    /// <param name="collections">The collections that it changed; null when that is not known of all.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="RefusedException">An index did not come so far in time, or before the node stops.</exception>
    public async Task WaitAsync(
        ServerContext context,
        Database database,
        IReadOnlyList<string>? collections,
        CancellationToken cancellationToken
    )
    {
        // This node has applied the batch then, wherever it was decided.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            if (Throws)
            {
                throw new RefusedException(
                    StatusCodes.Status500InternalServerError,
                    RavenType.BatchTimeout,
                    context.Stopping.IsCancellationRequested
                        ? NodeStops
                        : "The batch is stored. Whether indexes follow it is not known: no leader could say how far "
                            + "this node has come."
                );
            }

            return;
        }

        long etag = database.LastEtag;
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
                names.Select(name => FollowsAsync(context, database, name, etag, collections, cancellationToken))
            );
        }
        catch (OperationCanceledException) when (context.Stopping.IsCancellationRequested)
        {
            // What is stored is acknowledged.
            if (Throws)
            {
                throw new RefusedException(StatusCodes.Status500InternalServerError, RavenType.BatchTimeout, NodeStops);
            }

            return;
        }

        if (Throws && Array.IndexOf(reached, false) is >= 0 and var late)
        {
            string name = names[late];
            string why = IndexDelay.Why(context.Indexes, database, name, Timeout, isWaitedForAtRest: true);
            throw new RefusedException(
                StatusCodes.Status500InternalServerError,
                RavenType.BatchTimeout,
                $"The batch is stored. The index '{name}' {why}."
            );
        }
    }

    private async Task<bool> FollowsAsync(
        ServerContext context,
        Database database,
        string name,
        long etag,
        IReadOnlyList<string>? collections,
        CancellationToken cancellationToken
    )
    {
        long begun = context.Time.GetTimestamp();
        var left = Timeout;
        bool isOpen = context.Indexes.ReadPosition(database, name) is not null;
        if (!isOpen && context.Indexes.WhyNotKept(database, name) is not null)
        {
            return false; // at once: it is known already
        }

        if (!isOpen && Names.Count == 0)
        {
            // One that this node has not opened yet says only then what it is of.
            if (!await context.Indexes.WaitAsync(database, name, 0, left, cancellationToken, evenAtRest: true))
            {
                return false;
            }

            if (!ShownIndex.Named(context.Indexes, database, [name]).Exists(index => Concerns(index, collections)))
            {
                return true;
            }

            left -= context.Time.GetElapsedTime(begun);
        }

        return await context.Indexes.WaitAsync(database, name, etag, left, cancellationToken, evenAtRest: true);
    }

    // As in RavenDB, a disabled index is waited for only by its name. One that this node does not keep, and that may be
    // of what the batch changed, fails the wait: nobody may take the batch for found by it.
    private static bool Concerns(ShownIndex index, IReadOnlyList<string>? collections) =>
        !index.Record.Settings.IsDisabled
        && !index.IsReplacement
        && (
            index.Status is { } status
                ? Concerns(status, collections)
                : collections is null
                    || CollectionsOf(index) is not { } own
                    || own.Contains(AutoIndexDefinition.AllDocuments, StringComparer.Ordinal)
                    || own.Intersect(collections, StringComparer.OrdinalIgnoreCase).Any()
        );

    // Of one that this node has not opened; null when that cannot be known.
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
                .Intersect(collections, StringComparer.OrdinalIgnoreCase)
                .Any()
        );
}
