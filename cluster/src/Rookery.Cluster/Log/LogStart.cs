using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// Makes a core's <see cref="StartingPoint"/> from an opened journal. First writes the number of this start to the
/// journal, because every message of this node carries that number.
/// </summary>
internal static class LogStart
{
    /// <summary>Makes the starting point, and writes the number of this start durably.</summary>
    /// <param name="store">The opened store.</param>
    /// <param name="self">This node.</param>
    /// <param name="mayFoundCluster">Whether a store that has never been in a cluster founds a new cluster.</param>
    /// <param name="seed">The seed of the random election timeouts.</param>
    public static StartingPoint Of(NodeStore store, NodeId self, bool mayFoundCluster, int seed)
    {
        var journal = store.Journal;
        var (vote, startNumber) = VoteEncoding.Read(journal.Vote.Span);
        var entries = journal.TakeRecovered();
        startNumber++;
        if (journal.LastTerm > vote.Term)
        {
            // A restored log contains no vote. Record a vote for this node in the last entry's term, so that it cannot
            // vote for another candidate in that term.
            vote = new VoteRecord(journal.LastTerm, self);
        }

        // A journal that is damaged from its first entry contains no configuration either. Such a node must not found a
        // second cluster beside the one that it belongs to.
        var acknowledged = journal.Recovery.MayHaveAcknowledged;
        bool isDamaged = acknowledged.IsLaterThan(new EntryPosition(journal.LastTerm, journal.LastIndex));
        var founding =
            mayFoundCluster && !isDamaged && journal.Configuration.IsEmpty ? FoundCluster(journal, self, ref vote) : [];
        JournalFrame[] frames = [VoteEncoding.ToFrame(vote, startNumber), .. founding];
        journal.Write(frames);

        var log = ReadLog(store, entries);
        if (founding is [var configuration])
        {
            log.Append(
                EntryOf(
                    configuration.Type,
                    configuration.Index,
                    configuration.Term,
                    configuration.Payload.Length,
                    configuration.Payload
                )
            );
        }

        return new StartingPoint
        {
            Self = self,
            StartNumber = startNumber,
            Vote = vote,
            Log = log,
            // A damaged journal may end before the manifest's index. The manifest contains no configuration, so the
            // journal's last configuration is in force until entries or a snapshot with a newer one arrive.
            CommitIndex = Math.Max(Math.Min(store.DurablePosition.Index, log.LastIndex), journal.CommittedIndex),
            MayHaveAcknowledged = new LogPosition(acknowledged.Term, acknowledged.Index),
            WasUnclean = journal.Recovery.Verdict is not (TailVerdict.BeginNew or TailVerdict.ContinueAfterCleanStop),
            Seed = seed,
        };
    }

    /// <summary>Returns the number of the start that <see cref="Of"/> will make.</summary>
    public static long NextStartNumber(NodeJournal journal) => VoteEncoding.Read(journal.Vote.Span).StartNumber + 1;

    /// <summary>Returns an entry without its payload, as the core uses it.</summary>
    public static Entry EntryOf(FrameType type, long index, long term, int bytes, ReadOnlyMemory<byte> configuration) =>
        type switch
        {
            FrameType.Configuration => new Entry(
                index,
                term,
                EntryType.Configuration,
                bytes,
                ConfigurationEncoding.Read(configuration.Span).Configuration
            ),
            FrameType.NoOp => new Entry(index, term, EntryType.NoOp, bytes),
            _ => new Entry(index, term, EntryType.Batch, bytes),
        };

    /// <summary>
    /// Founds a cluster whose only member is this node, for a store that has never been in a cluster.
    /// </summary>
    private static JournalFrame[] FoundCluster(NodeJournal journal, NodeId self, ref VoteRecord vote)
    {
        vote = vote with { Term = Math.Max(vote.Term, 1) };
        long index = journal.LastIndex + 1;
        byte[] payload = ConfigurationEncoding.Encode(Configuration.Of([self], []), index);
        return
        [
            new JournalFrame(
                FrameType.Configuration,
                index,
                vote.Term,
                journal.OperationsBeforeNext,
                OperationCount: 0,
                payload
            ),
        ];
    }

    private static EntryLog ReadLog(NodeStore store, IReadOnlyList<RecoveredEntry> entries)
    {
        // If recovery skipped entries, the journal does not contain the term of the entry before the first kept one.
        // The manifest does.
        var before = store.Journal.Base is { Term: 0, Index: > 0 } ? store.DurablePosition : store.Journal.Base;
        var (configuration, index) = ConfigurationEncoding.Read(
            store.Journal.ConfigurationAt(before.Index).Payload.Span
        );
        var log = new EntryLog(new LogPosition(before.Term, before.Index), configuration, index);
        foreach (var entry in WithoutTruncated(entries))
        {
            if (entry.Index > log.Base.Index)
            {
                log.Append(EntryOf(entry.Type, entry.Index, entry.Term, entry.PayloadBytes, entry.Configuration));
            }
        }

        return log;
    }

    /// <summary>
    /// Returns the entries that no later truncation removes. A truncation's index may be before the first entry,
    /// because segments in between may have been released.
    /// </summary>
    private static List<RecoveredEntry> WithoutTruncated(IReadOnlyList<RecoveredEntry> entries)
    {
        var remaining = new List<RecoveredEntry>(entries.Count);
        foreach (var entry in entries)
        {
            if (entry.Type != FrameType.Truncation)
            {
                remaining.Add(entry);
                continue;
            }

            while (remaining.Count > 0 && remaining[^1].Index > entry.Index)
            {
                remaining.RemoveAt(remaining.Count - 1);
            }
        }

        return remaining;
    }
}
