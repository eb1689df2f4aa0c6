using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// From an opened journal to the point a core starts from. The start itself is made durable first: its number is in
/// everything that this node will say.
/// </summary>
internal static class LogStart
{
    public static StartingPoint Of(NodeStore store, NodeId self, bool mayBegin, int seed)
    {
        var journal = store.Journal;
        var (vote, incarnation) = VoteEncoding.Read(journal.Vote.Span);
        var entries = journal.TakeRecovered();
        incarnation++;
        if (journal.LastTerm > vote.Term)
        {
            // A restored log without a vote: this store has none to give in the term of its entries.
            vote = new VoteRecord(journal.LastTerm, self);
        }

        // Damage at the very beginning leaves no configuration either, and who would begin then would lead a cluster of
        // its own beside that of the others.
        var acknowledged = journal.Recovery.MayHaveAcknowledged;
        bool isDamaged = acknowledged.IsLaterThan(new EntryPosition(journal.LastTerm, journal.LastIndex));
        var begun = mayBegin && !isDamaged && journal.Configuration.IsEmpty ? Begin(journal, self, ref vote) : [];
        JournalFrame[] frames = [VoteEncoding.ToFrame(vote, incarnation), .. begun];
        journal.Write(frames);

        var log = ReadLog(store, entries);
        if (begun is [var configuration])
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
            Incarnation = incarnation,
            Vote = vote,
            Log = log,
            // The end of a damaged journal may lie before what the manifest holds: entries, or a state, bring the
            // members in force there, which the manifest does not tell.
            CommitIndex = Math.Max(Math.Min(store.Durable.Index, log.LastIndex), journal.CommittedIndex),
            VotedBy = new LogPosition(acknowledged.Term, acknowledged.Index),
            WasUnclean = journal.Recovery.Verdict is not (TailVerdict.BeginNew or TailVerdict.GoOnAfterCleanStop),
            Seed = seed,
        };
    }

    /// <summary>The number of the start that <see cref="Of"/> will make.</summary>
    public static long NextIncarnation(NodeJournal journal) => VoteEncoding.Read(journal.Vote.Span).Incarnation + 1;

    /// <summary>What the core knows of an entry.</summary>
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

    /// <summary>A store that was never told of a cluster is one of itself.</summary>
    private static JournalFrame[] Begin(NodeJournal journal, NodeId self, ref VoteRecord vote)
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
        // The term before entries that the journal passed over is known to the manifest alone.
        var before = store.Journal.Base is { Term: 0, Index: > 0 } ? store.Durable : store.Journal.Base;
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
    /// What no later truncation takes back. What one does may not even follow the base: the entries between may have
    /// been in segments that are given back.
    /// </summary>
    private static List<RecoveredEntry> WithoutTruncated(IReadOnlyList<RecoveredEntry> entries)
    {
        var kept = new List<RecoveredEntry>(entries.Count);
        foreach (var entry in entries)
        {
            if (entry.Type != FrameType.Truncation)
            {
                kept.Add(entry);
                continue;
            }

            while (kept.Count > 0 && kept[^1].Index > entry.Index)
            {
                kept.RemoveAt(kept.Count - 1);
            }
        }

        return kept;
    }
}
