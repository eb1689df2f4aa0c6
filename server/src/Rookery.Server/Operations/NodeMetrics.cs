using System.Globalization;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Storage;

namespace Rookery.Server.Operations;

/// <summary>Metrics of journal, storage and the command queue.</summary>
internal static class NodeMetrics
{
    public static void Add(PrometheusText text, Node node)
    {
        if (node.ReadStatistics() is not { } statistics)
        {
            return;
        }

        text.Gauge("rookery_databases", "Databases.").Sample(node.Databases.All.Count);
        text.Gauge("rookery_sequence", "The newest etag: operations since the data directory was made.")
            .Sample(statistics.Sequence);
        text.Counter("rookery_commands_total", "Commands committed since the start.").Sample(statistics.Commands);
        text.Counter("rookery_overloaded_total", "Commands refused because too much was in flight.")
            .Sample(statistics.Overloaded);
        text.Gauge("rookery_queued_commands", "Commands waiting or in flight.").Sample(statistics.QueuedCommands);
        text.Gauge("rookery_queued_bytes", "Their bytes.").Sample(statistics.QueuedBytes);
        text.Counter(
                "rookery_journal_frames_total",
                "Journal frames committed since the start; commands divided by frames is the size of a group."
            )
            .Sample(statistics.Frames);
        text.Gauge("rookery_journal_first_index", "Index of the first frame that the journal still holds.")
            .Sample(statistics.JournalFirstIndex);
        text.Gauge("rookery_journal_last_index", "Index of the last frame in the journal.")
            .Sample(statistics.JournalLastIndex);
        text.Gauge("rookery_applied_index", "Index of the last frame applied.").Sample(statistics.AppliedIndex);
        text.Gauge("rookery_manifest_index", "Index up to which runs hold everything: a restart replays what follows.")
            .Sample(statistics.ManifestIndex);
        text.Gauge("rookery_disk_free_bytes", "Free bytes on the file system of the data.")
            .Sample(statistics.Space.FreeBytes);
        text.Gauge("rookery_disk_reserve_bytes", "Free bytes below which writes that grow the data are refused.")
            .Sample(statistics.Space.NeededBytes);
        if (statistics.Consensus is { } cluster)
        {
            ClusterHealth.Add(text, cluster);
        }

        text.Gauge(
                "rookery_background_share_ratio",
                "How much of one core background work may take beside what writers wait for; 0 while heat pauses it."
            )
            .Sample(node.BackgroundShare);
        AddTransfers(text, statistics.Transfers);
        AddStorage(text, statistics.Storage);
    }

    private static void AddTransfers(PrometheusText text, StateTransferStatistics transfers)
    {
        AddKinds(
            text.Counter(
                "rookery_state_sent_bytes_total",
                "Bytes sent to members that fell behind the journal or lost rows: all files, what changed, or "
                    + "rows for a repair."
            ),
            transfers.SentBytesOf
        );
        AddKinds(
            text.Counter("rookery_state_received_bytes_total", "Bytes received from other members in the same ways."),
            transfers.ReceivedBytesOf
        );
        AddKinds(
            text.Counter(
                "rookery_state_installed_total",
                "States of other members that this node put in the place of its own, or on top of it, and "
                    + "files that it wrote again with rows of theirs."
            ),
            transfers.InstalledOf
        );
    }

    private static void AddKinds(PrometheusText text, Func<StateTransferKind, long> read) =>
        text.Sample(read(StateTransferKind.Files), ("kind", "files"))
            .Sample(read(StateTransferKind.Changes), ("kind", "changes"))
            .Sample(read(StateTransferKind.Repairs), ("kind", "repairs"));

    private static void AddStorage(PrometheusText text, StorageStatistics storage)
    {
        text.Gauge("rookery_memtable_bytes", "Bytes of rows not in runs yet, by state.")
            .Sample(storage.MemtableBytes, ("state", "active"))
            .Sample(storage.FrozenBytes, ("state", "frozen"));
        AddGroups(
            text.Gauge("rookery_run_bytes", "Bytes of runs on disk, by group of tables."),
            storage,
            group => group.Bytes
        );
        AddGroups(text.Gauge("rookery_run_files", "Files of runs."), storage, group => group.Files);
        AddGroups(
            text.Gauge("rookery_sorted_runs", "Sorted runs that a read may have to ask."),
            storage,
            group => group.SortedRuns
        );
        AddGroups(text.Gauge("rookery_run_rows", "Rows in runs, tombstones included."), storage, group => group.Rows);
        text.Counter("rookery_flushes_total", "Flushes that finished.").Sample(storage.Flushes);
        text.Counter("rookery_flushed_bytes_total", "Bytes that flushes wrote.").Sample(storage.FlushedBytes);
        text.Counter("rookery_compactions_total", "Compaction steps that wrote a file.").Sample(storage.Compactions);
        text.Counter("rookery_compacted_bytes_total", "Bytes that compaction wrote.").Sample(storage.CompactedBytes);
        text.Counter("rookery_manifest_bytes_total", "Bytes written into manifest slots.")
            .Sample(storage.ManifestBytes);
        text.Counter("rookery_background_failures_total", "Flushes and compactions that failed and are tried again.")
            .Sample(storage.Failures);
        text.Gauge("rookery_pending_compaction_bytes", "Bytes that the next compactions would read.")
            .Sample(storage.PendingCompactionBytes);
        text.Gauge("rookery_range_tombstones", "Range tombstones that still cover rows.")
            .Sample(storage.RangeTombstones);
        text.Gauge(
                "rookery_oldest_reader_seconds",
                "How long ago the oldest state that a reader still holds was replaced."
            )
            .Sample(storage.OldestReaderAge.TotalSeconds);
        text.Gauge(
                "rookery_reader_pinned_bytes",
                "Bytes that only readers of older states keep: of flushed memtables in memory, and of merged "
                    + "runs on disk."
            )
            .Sample(storage.ReaderMemoryBytes, ("kind", "memory"))
            .Sample(storage.ReaderFileBytes, ("kind", "files"));
        text.Counter("rookery_ended_reads_total", "States whose readers were ended because they kept too much.")
            .Sample(storage.EndedReads);
        text.Gauge("rookery_damaged_places", "Places on disk whose checksum does not match.")
            .Sample(storage.Damage.Count);
    }

    private static void AddGroups(PrometheusText text, StorageStatistics storage, Func<GroupStatistics, double> read)
    {
        foreach (var group in storage.Groups)
        {
            text.Sample(read(group), ("group", group.Group.ToString(CultureInfo.InvariantCulture)));
        }
    }
}
