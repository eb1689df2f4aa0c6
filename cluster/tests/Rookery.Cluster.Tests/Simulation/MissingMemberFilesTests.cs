using Rookery.Cluster.Log;
using Rookery.Crash.Tests;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>One member lost files, by an operator, a repair of the file system or a failing disk.</summary>
public sealed class MissingMemberFilesTests
{
    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public void A_member_that_lost_any_two_files_keeps_its_vote_and_acknowledged_entries_or_refuses_to_open(
        bool stopsCleanly,
        bool isEmptied
    )
    {
        using var cluster = SteppedCluster.Of(members: 3, seed: 5);
        var member = PrepareFollower(cluster);
        var promise = Promise.Of(member.Store!);
        if (stopsCleanly)
        {
            member.StopCleanly();
        }
        else
        {
            member.Kill();
        }

        var (durableIndex, rows) = DurableOf(member);
        string[][] parts = PartsOf(member.Disk);
        int refused = 0;
        for (int first = 0; first < parts.Length; first++)
        {
            for (int second = first; second < parts.Length; second++)
            {
                var image = member.Disk.AfterPowerLoss((first * parts.Length) + second);
                string[] damaged = [.. parts[first], .. second == first ? [] : parts[second]];
                if (CannotBeDetected(damaged))
                {
                    continue;
                }

                foreach (string path in damaged.Where(image.Exists))
                {
                    image.Delete(path);
                    if (isEmptied)
                    {
                        image.Open(path, DiskOpen.CreateNew).Dispose();
                    }
                }

                // Prefixes each failure: what was done to which files.
                string story = $"{(isEmptied ? "empty" : "gone")}: {string.Join(", ", damaged)}";
                try
                {
                    using var store = member.OpenStore(image);
                    promise.AssertKeptBy(store, story);
                    bool isWhole =
                        store.DurablePosition.Index != durableIndex
                        || string.Equals(Rows.Text(store.Storage), rows, StringComparison.Ordinal);
                    Assert.True(isWhole, $"{story}: the store opened with other rows than before");
                }
                catch (IOException refusal)
                {
                    refused++;
                    bool namesPlace = refusal.Message.Contains("/data/node", StringComparison.Ordinal);
                    Assert.True(namesPlace, $"{story}: the refusal names no file: {refusal.Message}");
                }
            }
        }

        // Some losses are harmless, but not most of them.
        Assert.InRange(refused, parts.Length, parts.Length * parts.Length);
    }

    /// <summary>
    /// Makes a follower with tables, several segments, and a vote for another member than the first leader.
    /// </summary>
    private static SteppedMember PrepareFollower(SteppedCluster cluster)
    {
        for (int i = 0; i < 80; i++)
        {
            cluster.Put(cluster.AwaitLeader(), $"users/{i}", i, padding: 2_000);
        }

        cluster.A.Consensus!.Transfer(cluster.B.Id);
        cluster.RunUntil(() => cluster.Leader == cluster.B, "B leads");
        cluster.Put(cluster.B, "users/last");
        cluster.AwaitEqual();
        cluster.RunFor(milliseconds: 1_000);
        return cluster.C;
    }

    /// <summary>Returns the applied index that a stopped member's tables have on disk, and their rows.</summary>
    private static (long Index, string Rows) DurableOf(SteppedMember member)
    {
        using var store = member.OpenStore(member.Disk.AfterPowerLoss(seed: 0));
        return (store.DurablePosition.Index, Rows.Text(store.Storage));
    }

    /// <summary>
    /// Whether the loss of both files cannot be detected: the newest segment and the file that names it. Any segment
    /// may be the newest.
    /// </summary>
    private static bool CannotBeDetected(string[] damaged) =>
        Array.Exists(damaged, static path => path.EndsWith("/newest", StringComparison.Ordinal))
        && Array.Exists(damaged, static path => path.EndsWith(".segment", StringComparison.Ordinal));

    /// <summary>Returns the files to lose, except locks: each alone, but all runs together.</summary>
    private static string[][] PartsOf(SimulatedDisk disk)
    {
        var files = disk
            .Files.Where(static path => !path.EndsWith("/lock", StringComparison.Ordinal))
            .ToLookup(static path => path.EndsWith(".run", StringComparison.Ordinal));
        string[] runs = [.. files[true]];
        string[][] others = [.. files[false].Select(static path => new[] { path })];
        return runs.Length > 0 ? [.. others, runs] : others;
    }

    /// <summary>What a member has promised to others: its vote, and the last entry that it acknowledged.</summary>
    private sealed record Promise(VoteRecord Vote, EntryPosition End)
    {
        public static Promise Of(NodeStore store) =>
            new(VoteOf(store), new(store.Journal.LastTerm, store.Journal.LastIndex));

        public void AssertKeptBy(NodeStore store, string story)
        {
            var vote = VoteOf(store);
            Assert.True(vote == Vote || vote.Term > Vote.Term, $"{story}: voted {Vote}, remembers {vote}");
            var end = EntryPosition.Later(
                new(store.Journal.LastTerm, store.Journal.LastIndex),
                store.Journal.Recovery.MayHaveAcknowledged
            );
            Assert.False(End.IsLaterThan(end), $"{story}: had {End}, knows of {end}");
            Assert.True(store.Journal.Base.Index <= store.DurablePosition.Index, $"{story}: a gap before the journal");
        }

        private static VoteRecord VoteOf(NodeStore store) => VoteEncoding.Read(store.Journal.Vote.Span).Vote;
    }
}
