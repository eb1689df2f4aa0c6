using System.Collections.Concurrent;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Indexes;

/// <summary>
/// Defines the indexes that queries need, and deletes automatic indexes that are no longer used. Thread-safe.
/// </summary>
/// <param name="context">The server.</param>
internal sealed class AutomaticIndexes(ServerContext context) : IAutomaticIndexes
{
    /// <summary>An automatic index that answers no query on the leader for this long is deleted.</summary>
    public static readonly TimeSpan UnusedLifetime = TimeSpan.FromHours(72);

    // An index that a wider index replaces is kept this long, because queries that chose the narrower index may still
    // wait.
    private static readonly TimeSpan SuperfluousLifetime = TimeSpan.FromMinutes(1);

    private static readonly TimeSpan RestAfterFailure = TimeSpan.FromSeconds(10);

    private readonly ConcurrentDictionary<(uint Database, string Name), Task<Rejection?>> _defining = new();
    private readonly ConcurrentDictionary<(uint Database, string LowerName), long> _lastUsed = new();

    // The timestamp of the last definition that failed; 0 for none.
    private long _failedAt;

    /// <inheritdoc/>
    public bool HaveFailedLately =>
        Volatile.Read(ref _failedAt) is not 0 and var failedAt
        && context.Time.GetElapsedTime(failedAt) < RestAfterFailure;

    /// <inheritdoc/>
    public void RecordFailure() => Volatile.Write(ref _failedAt, context.Time.GetTimestamp());

    /// <inheritdoc/>
    public void RecordUse(Database database, string name) =>
        _lastUsed[KeyOf(database, name)] = context.Time.GetTimestamp();

    /// <inheritdoc/>
    // Concurrent queries that need the same index propose one command.
    public async Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition)
    {
        var key = (database.Number, definition.Name);
        var done = new TaskCompletionSource<Rejection?>(TaskCreationOptions.RunContinuationsAsynchronously);
        var defining = _defining.GetOrAdd(key, done.Task);
        if (defining != done.Task)
        {
            return await defining;
        }

        try
        {
            // Count the definitions in progress before the defined indexes: a definition that completes in between is
            // counted twice rather than not at all, so concurrent definitions never exceed the limit.
            var refusal = context.Indexes.MayDefine(_defining.Count)
                ? await ProposeAsync(
                    database,
                    writer => writer.Put(definition.Name, definition.ToJson(), settings: default)
                )
                : new Rejection(RejectionKind.Overloaded, context.Indexes.WhyNoMore);
            if (refusal is not null)
            {
                RecordFailure();
            }

            done.SetResult(refusal);
            return refusal;
        }
        catch (Exception failure)
        {
            RecordFailure();
            done.SetException(failure);
            throw;
        }
        finally
        {
            _defining.TryRemove(key, out _);
        }
    }

    /// <summary>
    /// Deletes automatic indexes that a wider index replaces, and those unused for <see cref="UnusedLifetime"/>. Only
    /// the leader deletes, because most clients query it.
    /// </summary>
    public async Task RetireAsync()
    {
        if (!context.Node.Consensus.IsLeader)
        {
            // The next leader answers most queries. When this node leads again, its times of use would be old.
            _lastUsed.Clear();
            return;
        }

        var keptKeys = new HashSet<(uint Database, string LowerName)>();
        foreach (var database in context.Node.Databases.All)
        {
            var retired = FindRetired(database, keptKeys);
            if (
                retired.Count > 0
                && context.Node.Consensus.IsLeader
                && await ProposeAsync(database, writer => retired.ForEach(writer.Delete)) is null
            )
            {
                // A query at a follower may define the index again, and is not recorded here.
                keptKeys.ExceptWith(retired.Select(name => KeyOf(database, name)));
            }
        }

        foreach (var key in _lastUsed.Keys.Where(key => !keptKeys.Contains(key)))
        {
            _lastUsed.TryRemove(key, out _);
        }
    }

    /// <summary>
    /// Returns the names of a database's automatic indexes to delete, and adds the keys of all to
    /// <paramref name="keys"/>. An index without a recorded use counts as used at this check.
    /// </summary>
    private List<string> FindRetired(Database database, HashSet<(uint Database, string LowerName)> keys)
    {
        var candidates = context.Indexes.ReadAutoIndexes(database);
        var groups = context.Indexes.ReadAutoReduces(database);
        string[] names =
        [
            .. candidates.Select(static candidate => candidate.Name),
            .. groups.Select(static candidate => candidate.Name),
        ];
        keys.UnionWith(names.Select(name => KeyOf(database, name)));
        string[] superfluous = [.. AutoCandidates.Superfluous(candidates), .. AutoCandidates.Superfluous(groups)];
        return
        [
            .. names.Where(name =>
                UnusedFor(database, name) is var unused
                && (
                    unused >= UnusedLifetime
                    || (unused >= SuperfluousLifetime && superfluous.Contains(name, StringComparer.Ordinal))
                )
            ),
        ];
    }

    private TimeSpan UnusedFor(Database database, string name) =>
        context.Time.GetElapsedTime(
            _lastUsed.GetOrAdd(KeyOf(database, name), static (_, time) => time.GetTimestamp(), context.Time)
        );

    private static (uint Database, string LowerName) KeyOf(Database database, string name) =>
        (database.Number, name.ToLowerInvariant());

    private async Task<Rejection?> ProposeAsync(Database database, Action<IndexWriter> encode)
    {
        using var writer = new IndexWriter(database.Number, IdempotencyKey.None);
        encode(writer);
        var outcome = await context.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
        if (outcome.Rejection is not null)
        {
            return outcome.Rejection;
        }

        // Wait until this node has applied the command too, so that the caller can wait for the index on it.
        return await context.Node.Consensus.ReadBarrierAsync() ? null : RavenRoute.NoBarrierRejection(context);
    }
}
