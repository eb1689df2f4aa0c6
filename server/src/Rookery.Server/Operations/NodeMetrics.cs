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
        text.Gauge("rookery_sequence", "The newest etag: number of operations since the data directory was created.")
            .Sample(statistics.Sequence);
        text.Counter("rookery_commands_total", "Commands committed since the start.").Sample(statistics.Commands);
        text.Counter("rookery_overloaded_total", "Commands refused because too much was in flight.")
            .Sample(statistics.Overloaded);
        text.Gauge("rookery_queued_commands", "Commands waiting or in flight.").Sample(statistics.QueuedCommands);
        text.Gauge("rookery_queued_bytes", "Bytes of the commands waiting or in flight.")
            .Sample(statistics.QueuedBytes);
        text.Counter(
                "rookery_journal_frames_total",
                "Journal frames committed since the start; commands divided by frames is the size of a group."
            )
            .Sample(statistics.Frames);
        text.Gauge("rookery_journal_first_index", "Index of the first frame in the journal.")
            .Sample(statistics.JournalFirstIndex);
        text.Gauge("rookery_journal_last_index", "Index of the last frame in the journal.")
            .Sample(statistics.JournalLastIndex);
        text.Gauge("rookery_applied_index", "Index of the last frame applied.").Sample(statistics.AppliedIndex);
        text.Gauge("rookery_manifest_index", "Index of the checkpoint: a restart replays the journal after it.")
            .Sample(statistics.ManifestIndex);
        text.Gauge("rookery_disk_free_bytes", "Free bytes on the file system of the data.")
            .Sample(statistics.Space.FreeBytes);
        text.Gauge("rookery_disk_reserve_bytes", "Free bytes below which writes that grow the data are refused.")
            .Sample(statistics.Space.NeededBytes);
        if (statistics.JournalSpace is { State: var journal })
        {
            text.Gauge("rookery_journal_disk_free_bytes", "Free bytes on the journal's own file system.")
                .Sample(journal.FreeBytes);
            text.Gauge(
                    "rookery_journal_disk_reserve_bytes",
                    "Free bytes for the journal below which writes that grow the data are refused."
                )
                .Sample(journal.NeededBytes);
        }

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
        AddStorage(text, statistics.Storage, statistics.DamagedPlaces);
    }

    private static void AddTransfers(PrometheusText text, StateTransferStatistics transfers)
    {
        AddKinds(
            text.Counter(
                "rookery_state_sent_bytes_total",
                "Bytes sent to members that lag behind the journal or lost rows: all files, changed rows, or "
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
                "States of other members that this node installed in place of its own or merged into it, and "
                    + "files that it repaired with their rows."
            ),
            transfers.InstalledOf
        );
        text.Counter("rookery_state_offers_total", "Snapshots that this node offered to lagging members.")
            .Sample(transfers.Offers);
        text.Counter(
                "rookery_state_offers_dropped_total",
                "Offered snapshots that were dropped, because no member fetched from them any more or they kept too "
                    + "much of the journal."
            )
            .Sample(transfers.Dropped);
    }

    private static void AddKinds(PrometheusText text, Func<StateTransferKind, long> read) =>
        text.Sample(read(StateTransferKind.Files), ("kind", "files"))
            .Sample(read(StateTransferKind.Changes), ("kind", "changes"))
            .Sample(read(StateTransferKind.Repairs), ("kind", "repairs"));

    private static void AddStorage(PrometheusText text, StorageStatistics storage, int damagedPlaces)
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
            text.Gauge("rookery_sorted_runs", "Sorted runs that a read may have to search."),
            storage,
            group => group.SortedRuns
        );
        AddGroups(text.Gauge("rookery_run_rows", "Rows in runs, tombstones included."), storage, group => group.Rows);
        text.Counter("rookery_flushes_total", "Completed flushes.").Sample(storage.Flushes);
        text.Counter("rookery_flushed_bytes_total", "Bytes written by flushes.").Sample(storage.FlushedBytes);
        text.Counter("rookery_compactions_total", "Compaction steps that wrote a file.").Sample(storage.Compactions);
        text.Counter("rookery_compacted_bytes_total", "Bytes written by compaction.").Sample(storage.CompactedBytes);
        text.Counter("rookery_manifest_bytes_total", "Bytes written into manifest slots.")
            .Sample(storage.ManifestBytes);
        text.Counter("rookery_background_failures_total", "Flushes and compactions that failed and are retried.")
            .Sample(storage.Failures);
        text.Gauge("rookery_pending_compaction_bytes", "Bytes that the next compactions would read.")
            .Sample(storage.PendingCompactionBytes);
        text.Gauge("rookery_range_tombstones", "Range tombstones that still cover rows.")
            .Sample(storage.RangeTombstones);
        text.Gauge(
                "rookery_oldest_reader_seconds",
                "Age of the oldest snapshot that a reader still holds, since a newer one replaced it."
            )
            .Sample(storage.OldestReaderAge.TotalSeconds);
        text.Gauge(
                "rookery_reader_pinned_bytes",
                "Bytes kept only for readers of older snapshots: flushed memtables in memory, and merged runs "
                    + "on disk."
            )
            .Sample(storage.ReaderMemoryBytes, ("kind", "memory"))
            .Sample(storage.ReaderFileBytes, ("kind", "files"));
        text.Counter("rookery_ended_reads_total", "Snapshots whose readers were ended because they kept too much.")
            .Sample(storage.EndedReads);
        text.Gauge("rookery_damaged_places", "Places on disk whose checksum does not match, and missing files.")
            .Sample(damagedPlaces);
    }

    private static void AddGroups(PrometheusText text, StorageStatistics storage, Func<GroupStatistics, double> read)
    {
        foreach (var group in storage.Groups)
        {
            text.Sample(read(group), ("group", group.Group.ToString(CultureInfo.InvariantCulture)));
        }
    }
}
