using Rookery.Board;
using Rookery.Board.Doctor;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Server.Alerts;

/// <summary>
/// All alerts. Prometheus' rules (ansible/roles/monitoring/files/rookery.rules.yml) and docs/reference/alerts.md have
/// the same list; tests compare them.
/// </summary>
public static class AlertCatalogue
{
    private const double SlowSyncSeconds = 0.5;
    private const long LagEntries = 10_000;
    private const double LifeUsed = 0.9; // share of the card's life
    private const int SpareBlocksUsed = 2; // as an eMMC reports it: 2 means over 80 %
    private const double ClockOffSeconds = 60;
    private const int CertificateDays = 30;
    private const int BackupDays = 3;

    /// <summary>All alerts, most severe first.</summary>
    public static IReadOnlyList<AlertDefinition> All { get; } =
    [
        new()
        {
            Name = "node_silent",
            Severity = AlertSeverity.Critical,
            Expression = "up{job=\"rookery\"} == 0",
            For = TimeSpan.FromMinutes(5),
            Sentence = "A node does not answer Prometheus.",
            Summary = "{{ $labels.instance }} does not answer.",
            Fix =
                "Check that it is switched on and in the network. `rookery cluster node ls` on another node shows when "
                + "it last answered.",
        },
        new()
        {
            Name = "not_serving",
            Severity = AlertSeverity.Critical,
            Expression = "rookery_ready == 0",
            For = TimeSpan.FromMinutes(2),
            Sentence = "A node serves no documents.",
            Summary = "{{ $labels.instance }} serves no documents.",
            Fix = "Its `rookery status` shows why, and its log what happened before.",
            Judge = static facts => facts.NotServing is { } reason ? $"This node serves no documents: {reason}" : null,
        },
        new()
        {
            Name = "halted",
            Severity = AlertSeverity.Critical,
            Expression = "rookery_cluster_takes_part == 0",
            Sentence =
                "A node takes no part in its cluster any more: it was removed, was refused, cannot write its "
                + "journal, or halted because its applied results differ from those of the others.",
            Summary = "{{ $labels.instance }} takes no part in its cluster any more.",
            Fix =
                "Delete nothing. Its `rookery status` shows why. Once the others are well, let it join again with "
                + "another card or an empty data directory.",
            Judge = static facts =>
                facts.TakesNoPart ? $"This node takes no part in its cluster any more: {facts.Cluster!.Trouble}" : null,
        },
        new()
        {
            Name = "no_writes",
            Severity = AlertSeverity.Critical,
            Expression = "rookery_cluster_healthy == 0 unless on (instance) rookery_cluster_takes_part == 0",
            For = TimeSpan.FromMinutes(1),
            Sentence =
                "A node accepts no writes: no majority of the voters reach each other, or the node still catches up.",
            Summary = "{{ $labels.instance }} accepts no writes.",
            Fix =
                "`rookery status` shows which voters are missing: a majority must run and reach each other. "
                + "Documents can still be read, with `rookery get --local` and `rookery query --local` too.",
            Judge = static facts =>
                !facts.TakesNoPart && facts.Cluster?.Trouble is { } trouble
                    ? $"This node accepts no writes: {trouble}"
                    : null,
        },
        new()
        {
            Name = "damage",
            Severity = AlertSeverity.Critical,
            Expression = "rookery_damaged_places > 0",
            Sentence = "A node found bytes on its card that are not what it wrote.",
            Summary = "{{ $labels.instance }} found {{ $value }} damaged places.",
            Fix =
                "Its card corrupts data: take a backup, and replace the node's card. If only contents of attachments "
                + "cannot be read, upload the files again, or restore a backup that has them; its log names them.",
            Judge = static facts =>
                facts switch
                {
                    { DamagedPlaces: 0, UnreadableContents: 0 } => null,
                    { UnreadableContents: 0 } =>
                        $"This node found {Count(facts.DamagedPlaces, "damaged place")} on its card.",
                    { DamagedPlaces: 0 } => DescribeContents(facts),
                    _ => $"This node found {Count(facts.DamagedPlaces, "damaged place")} on its card. "
                        + DescribeContents(facts),
                },
        },
        new()
        {
            Name = "disk_full",
            Severity = AlertSeverity.Critical,
            Expression =
                "rookery_disk_free_bytes < rookery_disk_reserve_bytes or rookery_journal_disk_free_bytes < "
                + "rookery_journal_disk_reserve_bytes",
            For = TimeSpan.FromMinutes(1),
            KeepFiring = TimeSpan.FromMinutes(5),
            Sentence =
                "A card, or the device of a journal, has less free space than the node's reserve: writes that add "
                + "data are refused if no majority of the voters has more.",
            Summary = "{{ $labels.instance }} has {{ $value | humanize1024 }}B free, less than its reserve.",
            Fix =
                "Delete documents or databases that are not needed, or move the node, or its journal, to a larger "
                + "card or drive.",
            Judge = static facts =>
                facts switch
                {
                    { Space: { AllowsGrowth: false } space } =>
                        $"{(facts.IsAlone ? "Nothing new can be written: this" : "This")} node's card is full; "
                            + $"it has {Amount.Bytes(space.FreeBytes)} free, less than its reserve of "
                            + $"{Amount.Bytes(space.NeededBytes)}.",
                    { JournalSpace: { State: { AllowsGrowth: false } space, Directory: var directory } } =>
                        $"{(facts.IsAlone ? "Nothing new can be written: the" : "The")} file system of this node's "
                            + $"journal, in {directory}, is full; it has {Amount.Bytes(space.FreeBytes)} free, less "
                            + $"than its reserve of {Amount.Bytes(space.NeededBytes)}.",
                    _ => null,
                },
        },
        new()
        {
            Name = "under_voltage",
            Severity = AlertSeverity.Critical,
            Expression = "rookery_board_throttled{kind=\"under_voltage\",when=\"now\"} == 1",
            KeepFiring = TimeSpan.FromMinutes(15),
            Sentence = "A board's supply falls below 4.63 V: it may stop at any moment.",
            Summary = "The supply of {{ $labels.instance }} does not hold its voltage.",
            Fix =
                "Use the power supply that the board's maker recommends and a short, thick cable, and unplug USB "
                + "devices that draw much.",
            Judge = static facts =>
                facts.Board is { } board && board.Is(Throttling.UnderVoltage)
                    ? "This board's supply fell below 4.63 V: it may stop at any moment."
                    : null,
        },
        new()
        {
            Name = "no_margin",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_cluster_margin_voters == 0 and on (instance) rookery_cluster_voters > 2",
            For = TimeSpan.FromMinutes(5),
            Sentence = "Writes stop if one more voter fails.",
            Summary = "Writes stop if one more voter fails.",
            Fix = "`rookery cluster node ls` shows which voter is missing: start it, or replace it with a new machine.",
            IsOfCluster = true,
            Judge = static facts =>
                facts.Cluster is { } cluster
                && ClusterMargin.Of(cluster) == 0
                && ClusterMargin.VotersOf(cluster) is > 2 and var voters
                    ? $"Writes stop if one more voter fails: {(voters / 2) + 1} of {voters} run, and writes need "
                        + "as many."
                    : null,
        },
        new()
        {
            Name = "member_down",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_cluster_member_reachable == 0 and on (instance) rookery_cluster_is_leader == 1",
            For = TimeSpan.FromMinutes(5),
            Sentence = "A member does not answer the leader.",
            Summary = "Member {{ $labels.member }} does not answer the leader.",
            Fix =
                "Check that it is switched on and in the network. `rookery cluster node ls` shows when it last "
                + "answered. replace_node.yml replaces it by a new machine.",
            IsOfCluster = true,
            JudgeMembers = static facts =>
                MembersWhere(
                    facts,
                    static member => member.IsReachable == false,
                    static member =>
                        member.HeardSeconds is { } heard
                            ? $"{member.Member.Name} ({member.Member.Tag}) does not answer the leader. "
                                + $"It last answered {Amount.Time(TimeSpan.FromSeconds(heard))} ago."
                            : $"{member.Member.Name} ({member.Member.Tag}) does not answer the leader."
                ),
        },
        new()
        {
            Name = "member_lag",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_cluster_member_lag_entries > 10000 and on (instance) rookery_cluster_is_leader == 1",
            For = TimeSpan.FromMinutes(10),
            Sentence = "A member is far behind the leader.",
            Summary = "Member {{ $labels.member }} lacks {{ $value }} entries.",
            Fix = "A slow card or network: compare the members' sync p99 in `rookery cluster node ls`.",
            IsOfCluster = true,
            JudgeMembers = static facts =>
                MembersWhere(
                    facts,
                    static member => member.LagEntries > LagEntries,
                    static member =>
                        $"{member.Member.Name} ({member.Member.Tag}) is "
                        + $"{Amount.Number(member.LagEntries ?? 0)} entries behind."
                ),
        },
        new()
        {
            Name = "sync_slow",
            Severity = AlertSeverity.Warning,
            Expression =
                "rookery_io_recent_seconds{kind=\"journal_sync\",quantile=\"0.99\"} > 0.5 and on (instance) "
                + "rate(rookery_io_operations_total{kind=\"journal_sync\"}[10m]) > 0",
            For = TimeSpan.FromMinutes(10),
            KeepFiring = TimeSpan.FromMinutes(10),
            Sentence = "A card takes long to sync: every write waits for it.",
            Summary =
                "One sync of the journal in a hundred takes {{ $value | humanizeDuration }} on {{ $labels.instance }}.",
            Fix =
                "A card that stalls is worn, or shared with something else that writes: look at the IO "
                + "timeline, and try another card or an SSD.",
            Judge = static facts =>
                facts.SyncMicroseconds / 1e6 > SlowSyncSeconds
                    ? $"One sync of the journal in a hundred takes more than "
                        + $"{Amount.Microseconds(facts.SyncMicroseconds ?? 0)} here."
                    : null,
        },
        new()
        {
            Name = "disk_low",
            Severity = AlertSeverity.Warning,
            Expression =
                "rookery_disk_free_bytes < 2 * rookery_disk_reserve_bytes and rookery_disk_free_bytes >= "
                + "rookery_disk_reserve_bytes",
            For = TimeSpan.FromMinutes(10),
            KeepFiring = TimeSpan.FromMinutes(10),
            Sentence = "A card fills up: less than twice the reserve is free.",
            Summary = "{{ $labels.instance }} has {{ $value | humanize1024 }}B free.",
            Fix =
                "Delete what is not needed, or plan a larger card or drive. Writes that add data are refused "
                + "unless a majority of the voters has its reserve free.",
            Judge = static facts =>
                facts.Space is { } space
                && space.FreeBytes >= space.NeededBytes
                && space.FreeBytes < 2 * space.NeededBytes
                    ? $"This node's card has {Amount.Bytes(space.FreeBytes)} free; at "
                        + $"{Amount.Bytes(space.NeededBytes)} writes that add data are refused."
                    : null,
        },
        new()
        {
            Name = "card_worn",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_board_life_used_ratio >= 0.9 or rookery_board_spare_blocks_used >= 2",
            Sentence = "An eMMC reports that it has used 90 % of its life or 80 % of its spare blocks (level 2 of 3).",
            Summary =
                "{{ $labels.device }} of {{ $labels.instance }} reports that it has used 90 % of its life or 80 % of "
                + "its spare blocks (level 2 of 3).",
            Fix =
                "Plan to replace it: take a backup, and give the node another card or drive before it turns read-only.",
            Judge = static facts =>
                facts.Devices.FirstOrDefault(static device =>
                    device.LifeUsed >= LifeUsed || device.SpareBlocksUsed >= SpareBlocksUsed
                )
                    is { } worn
                    ? $"{worn.Device} reports that it has used {DescribeWear(worn)}."
                    : null,
        },
        new()
        {
            Name = "throttled",
            Severity = AlertSeverity.Warning,
            Expression =
                "max by (instance) (rookery_board_throttled{kind=~\"throttled|frequency_capped\",when=\"now\"}) == 1",
            For = TimeSpan.FromMinutes(1),
            KeepFiring = TimeSpan.FromMinutes(10),
            Sentence = "The firmware slows a processor down, because of heat or low voltage.",
            Summary = "The firmware slows {{ $labels.instance }} down.",
            Fix = "Give the board air or a heat sink, and look at its supply. Background work pauses meanwhile.",
            Judge = static facts =>
                facts.Board is { } board && board.Is(Throttling.Throttled | Throttling.FrequencyCapped)
                    ? $"The firmware slows this board's processor "
                        + $"down{(board.TemperatureCelsius is { } celsius ? $" ({celsius:0} °C now)" : string.Empty)}"
                        + $"."
                    : null,
        },
        new()
        {
            Name = "hot",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_board_temperature_celsius >= 80",
            For = TimeSpan.FromMinutes(1),
            KeepFiring = TimeSpan.FromMinutes(5),
            Sentence = "A board is hot: background work pauses from 80 °C on.",
            Summary = "{{ $labels.instance }} has {{ $value }} °C.",
            Fix = "Give it air or a heat sink, or another place in the stack.",
            Judge = static facts =>
                facts.Board?.TemperatureCelsius is >= BoardPolicy.HotCelsius and var celsius
                    ? $"This board has {celsius:0} °C: background work pauses from {BoardPolicy.HotCelsius:0} °C on."
                    : null,
        },
        new()
        {
            Name = "storage_fails",
            Severity = AlertSeverity.Warning,
            Expression = "increase(rookery_background_failures_total[15m]) > 0",
            For = TimeSpan.FromMinutes(5),
            KeepFiring = TimeSpan.FromMinutes(15),
            Sentence = "A node cannot write its runs: a flush or merge fails and is retried.",
            Summary = "Flushes or merges fail on {{ $labels.instance }}.",
            Fix =
                "`rookery doctor` on its machine checks card and file system. Until flushes succeed again, memory and "
                + "journal fill.",
            Judge = static facts =>
                facts.StorageTrouble is { } trouble && facts.DamagedPlaces == 0
                    ? $"A flush or merge fails and is retried: {trouble}"
                    : null,
        },
        new()
        {
            Name = "index_trouble",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_indexes_in_trouble > 0",
            For = TimeSpan.FromMinutes(5),
            Sentence = "An index cannot continue.",
            Summary = "{{ $value }} indexes of {{ $labels.instance }} cannot continue.",
            Fix = "The page of its indexes, or `rookery index ls`, shows why. Correct its definition, or reset it.",
            Judge = static facts =>
                facts.IndexTroubles switch
                {
                    [] => null,
                    [var only] => $"An index of this node cannot continue: {only}",
                    [var first, ..] troubles =>
                        $"{troubles.Count} indexes of this node cannot continue; the first is {first}",
                },
        },
        .. RedisAlerts.All,
        new()
        {
            Name = "clock_in_doubt",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_cluster_time_sure == 0",
            For = TimeSpan.FromMinutes(10),
            Sentence = "The cluster does not know the time: nothing expires.",
            Summary = "The cluster does not know the time: nothing expires.",
            Fix =
                "Connect the nodes to a source of time, or see that their clocks are right and run `rookery "
                + "cluster clock confirm`.",
            Judge = static facts =>
                facts is { TakesNoPart: false, Cluster.Clock: { Time.IsSure: false } clock }
                    ? $"The cluster's time is in doubt, and nothing expires: {clock.Doubt ?? "it is not known here."}"
                    : null,
        },
        new()
        {
            Name = "clock_off",
            Severity = AlertSeverity.Warning,
            Expression = "abs(rookery_clock_ahead_seconds) > 60",
            For = TimeSpan.FromMinutes(10),
            Sentence = "A machine's clock is more than a minute off the cluster's time.",
            Summary = "The clock of {{ $labels.instance }} is {{ $value | humanizeDuration }} off.",
            Fix =
                "Connect it to a time source (`timedatectl`), or check its battery: its log and its alerts have wrong "
                + "times.",
            Judge = static facts =>
                facts is { TakesNoPart: false, Cluster.Clock: { Time.UtcTicks: > 0 } clock }
                && Math.Abs(clock.OwnAheadSeconds) > ClockOffSeconds
                    ? $"This machine's clock is "
                        + $"{Amount.Time(TimeSpan.FromSeconds(Math.Abs(clock.OwnAheadSeconds)))} "
                        + $"{(clock.OwnAheadSeconds > 0 ? "ahead of" : "behind")} the cluster's time."
                    : null,
        },
        new()
        {
            Name = "certificate_ends",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_certificate_not_after_seconds - time() < 30 * 86400",
            Sentence = "A node's certificate ends within a month: clients refuse it from then on.",
            Summary = "The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}.",
            Fix = "The node should have renewed it long before. Its log shows why it could not.",
            Judge = static facts =>
                facts.CertificateEnds is { } ends && ends - facts.Now < TimeSpan.FromDays(CertificateDays)
                    ? $"The node's certificate for clients expires on {ends.UtcDateTime:yyyy-MM-dd}: its renewal is "
                        + "overdue."
                    : null,
        },
        new()
        {
            Name = "backup_old",
            Severity = AlertSeverity.Warning,
            Expression =
                "time() - max(rookery_backup_last_success_timestamp_seconds) > 3 * 86400 or "
                + "(absent(rookery_backup_last_success_timestamp_seconds) and on () max(time() - "
                + "process_start_time_seconds{job=\"rookery\"}) > 3 * 86400)",
            For = TimeSpan.FromHours(1),
            Sentence = "The last backup is older than three days, or none is known.",
            Summary = "The last backup is older than three days, or none is known.",
            Fix =
                "backup.yml takes one and records it on all nodes, or reports why it cannot. Record backups "
                + "that are taken in another way, too.",
            IsOfCluster = true,
            Judge = JudgeBackup,
        },
        new()
        {
            Name = "slot_not_committed",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_slot_on_trial == 1",
            For = TimeSpan.FromMinutes(20),
            Sentence =
                "An update of the image runs on trial: without a commit the previous system returns after some starts.",
            Summary = "The update that {{ $labels.instance }} runs is not committed.",
            Fix =
                "The card has two slots for the system. The updated slot is committed when its node serves; "
                + "`rookery status` shows why it does not. `sudo rookery-slot commit` keeps the slot, `sudo "
                + "rookery-slot rollback` abandons it.",
            Judge = static facts =>
                facts.Notes.IsSlotOnTrial == true
                    ? "The system that this machine runs is an update on trial that was not committed."
                    : null,
        },
        new()
        {
            Name = "slot_fell_back",
            Severity = AlertSeverity.Warning,
            Expression = "rookery_slot_fell_back == 1",
            Sentence = "An update of the image failed to start, and the previous system runs.",
            Summary = "An update of {{ $labels.instance }} failed to start; the previous system runs.",
            Fix =
                "`journalctl -u rookery-slot` shows which slot; install the update again or wait for the next. "
                + "The alert ends with the machine's next start.",
            Judge = static facts =>
                facts.Notes.HasSlotFallenBack == true
                    ? "An update of this machine failed to start, and the previous system runs."
                    : null,
        },
        new()
        {
            Name = "packages_old",
            Severity = AlertSeverity.Warning,
            Expression = "time() - rookery_image_packages_timestamp_seconds > 90 * 86400",
            For = TimeSpan.FromHours(1),
            Sentence = "The system packages of a machine with the image are older than 90 days.",
            Summary = "The system packages of {{ $labels.instance }} are older than 90 days.",
            Fix =
                "They lack the security fixes since then. Install the newest update bundle by upgrade.yml, also if it "
                + "has the same version of Rookery.",
            Judge = static facts =>
                facts.Notes.PackagesLocked is { } locked
                && facts.Now - locked > TimeSpan.FromDays(ImageJudgement.MaxPackageAgeDays)
                    ? $"The system packages of this machine ({facts.Notes.ImageRelease ?? "unknown release"}) are of "
                        + $"{locked.UtcDateTime:yyyy-MM-dd}, {(facts.Now - locked).TotalDays:0} days old."
                    : null,
        },
        new()
        {
            Name = "machine_unseen",
            Severity = AlertSeverity.Warning,
            Expression = "up{job=\"node\"} == 0 and on (instance) up{job=\"rookery\"} == 1",
            For = TimeSpan.FromMinutes(15),
            Sentence = "Prometheus gets no metrics of a machine, although its node answers.",
            Summary = "Prometheus gets no metrics of the machine of {{ $labels.instance }}.",
            Fix = "`systemctl status prometheus-node-exporter` on it shows why.",
        },
    ];

    /// <summary>Returns the alert with a name; null if this version does not have it.</summary>
    public static AlertDefinition? Find(string name) =>
        All.FirstOrDefault(alert => string.Equals(alert.Name, name, StringComparison.Ordinal));

    /// <summary>
    /// Judges the age of the last backup, on the leader only, because the backup is of the cluster. If no backup is
    /// known, reports that only after this process has run for three days.
    /// </summary>
    private static string? JudgeBackup(AlertFacts facts)
    {
        if (!facts.IsLeader)
        {
            return null;
        }

        if (facts.Notes.LastBackup is { } last)
        {
            if (facts.Now - last > TimeSpan.FromDays(BackupDays))
            {
                double days = (facts.Now - last).TotalDays;
                return $"The last backup that this node knows of was taken {days:0.0} days ago.";
            }

            return null;
        }

        if (facts.Uptime > TimeSpan.FromDays(BackupDays))
        {
            return $"No backup is known to this node since it started {facts.Uptime.TotalDays:0} days ago.";
        }

        return null;
    }

    /// <summary>
    /// Returns each other member for which <paramref name="holds"/> is true, with a sentence about it; on the leader
    /// only.
    /// </summary>
    private static IEnumerable<(string Member, string Sentence)> MembersWhere(
        AlertFacts facts,
        Func<MemberStatistics, bool> holds,
        Func<MemberStatistics, string> describe
    ) =>
        facts.IsLeader
            ? facts
                .Cluster!.Members.Where(member => !member.Member.IsSelf && holds(member))
                .Select(member => (member.Member.Tag, describe(member)))
            : [];

    private static string DescribeContents(AlertFacts facts) =>
        $"This node cannot read {Count(facts.UnreadableContents, "content")} of attachments: upload the files again, "
        + "or restore a backup that has them. Its log names them.";

    // A device may report one of the two, or both.
    private static string DescribeWear(StorageReading device)
    {
        string?[] used =
        [
            device.LifeUsed is { } life ? $"{life * 100:0} % of its life" : null,
            device.SpareBlocksUsed >= SpareBlocksUsed ? "most of its spare blocks" : null,
        ];
        return string.Join(" and ", used.Where(static part => part is not null));
    }

    private static string Count(int number, string noun) => $"{number} {noun}{(number == 1 ? string.Empty : "s")}";
}
