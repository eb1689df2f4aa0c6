using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Makes deletions that lagging members must receive: deleted documents, deleted ranges (a deleted database, expired
/// tombstones) and released large values. No other client writes its documents, so each document must have its last
/// acknowledged value.
/// </summary>
internal sealed class DeletingClient(SteppedCluster cluster, int seed)
{
    private const int Documents = 12;
    private const uint Database = 1;
    private const string DeletedDatabase = "dropped";

    /// <summary>Too large to stay in its row.</summary>
    private const int LargeBytes = 70_000;

    private readonly Random _random = new(seed * 41);

    /// <summary>
    /// The possible values of each document: the last acknowledged one (0 for a deletion) and those of writes with
    /// unknown outcome.
    /// </summary>
    private readonly Dictionary<string, (long Known, HashSet<long> Unknown)> _documents = new(StringComparer.Ordinal);

    private long _value;
    private long _etag;

    /// <summary>The number of acknowledged operations of each kind.</summary>
    public SortedDictionary<string, int> Done { get; } = new(StringComparer.Ordinal);

    public bool IsStopped { get; set; }

    public bool HasEnded { get; private set; }

    public async Task WorkAsync()
    {
        while (!IsStopped)
        {
            await cluster.Pause(_random.Next(1, 60));
            string document = $"deleted/{_random.Next(Documents)}";

            // One operation in five deletes a document, and about half store a small one. The others are rarer.
            await (
                _random.Next(40) switch
                {
                    < 8 => WriteAsync(
                        "documents deleted",
                        document,
                        value: 0,
                        CommandEncoder.Delete(
                            Database,
                            Encoding.UTF8.GetBytes(document),
                            ExpectedChangeVector.None,
                            key: default
                        )
                    ),
                    8 => PutAsync("large values", document, LargeBytes),
                    < 12 => AskAsync(
                        "databases created",
                        CommandEncoder.CreateDatabase(DeletedDatabase, SteppedCluster.HistoryId)
                    ),
                    < 14 => AskAsync("databases deleted", CommandEncoder.DeleteDatabases([DeletedDatabase])),
                    < 20 => FillAsync(),
                    20 => AskAsync("tombstones removed", CommandEncoder.SetTombstoneHorizon(Database, _etag / 2)),
                    _ => PutAsync("documents stored", document, _random.Next(400)),
                }
            );
        }

        HasEnded = true;
    }

    /// <summary>Fails unless a member's documents have possible values.</summary>
    public void Check(SteppedMember member)
    {
        foreach (var (document, (known, unknown)) in _documents)
        {
            long actual = member.Peek(document).Value;
            Assert.True(
                actual == known || unknown.Contains(actual),
                $"{document} is gone, or came back: {member} has {actual}, and {known} was acknowledged last "
                    + $"(0: that it was deleted)"
            );
        }
    }

    private Task PutAsync(string kind, string document, int padding)
    {
        long value = ++_value;
        return WriteAsync(kind, document, value, SteppedCluster.PutOf(document, value, padding: padding));
    }

    private async Task WriteAsync(string kind, string document, long value, CommandBuffer command)
    {
        var (known, unknown) = _documents.GetValueOrDefault(document, (0, []));
        bool? isDone = await AskAsync(kind, command);
        if (isDone is null)
        {
            unknown.Add(value);
        }

        _documents[document] = (isDone is true ? value : known, unknown);
    }

    /// <summary>
    /// Writes a document of a database that is sometimes deleted and created again under another number.
    /// </summary>
    private Task FillAsync() =>
        ChooseRunningMember() is { } member && member.Store!.Databases.TryGet(DeletedDatabase, out var database)
            ? AskAsync(
                "documents of the deleted database",
                SteppedCluster.PutOf(
                    $"filled/{_random.Next(Documents)}",
                    ++_value,
                    padding: 200,
                    database: database.Number
                )
            )
            : Task.CompletedTask;

    /// <summary>Proposes a command. Returns whether it was carried out; null when the outcome is unknown.</summary>
    private async Task<bool?> AskAsync(string kind, CommandBuffer command)
    {
        if (ChooseRunningMember() is not { } member)
        {
            command.Dispose();
            return false;
        }

        var outcome = await cluster.AnswerInTime(ProposeAsync(member, command), member);
        if (outcome is null or { Rejection.Kind: RejectionKind.OutcomeUnknown })
        {
            return null;
        }

        bool isDone = outcome.Value.Rejection is null;
        if (isDone)
        {
            Done[kind] = Done.GetValueOrDefault(kind) + 1;
            _etag = outcome.Value.Count > 0 ? Math.Max(_etag, outcome.Value[0].Etag) : _etag;
        }

        return isDone;
    }

    /// <summary>Chooses a member at random; null when that one is down.</summary>
    private SteppedMember? ChooseRunningMember()
    {
        var member = cluster.Members[_random.Next(cluster.Members.Count)];
        return member.IsUp ? member : null;
    }

    private static async Task<CommandOutcome?> ProposeAsync(SteppedMember member, CommandBuffer command) =>
        await member.Propose(command);
}
