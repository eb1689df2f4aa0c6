using System.Globalization;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// The last step of an upgrade, which the operator orders: allows the members to write the newest format that all of
/// them support. After that, the previous version cannot be reinstalled.
/// </summary>
public static class UpgradeEnd
{
    /// <summary>
    /// Raises the cluster's <see cref="FormatLevel"/> on the leader, or explains which member prevents that.
    /// </summary>
    /// <param name="consensus">The leader's consensus.</param>
    /// <param name="recordStore">The records.</param>
    /// <param name="cancellationToken">Cancels.</param>
    public static async Task<MemberAnswer> FinalizeAsync(
        RaftConsensus consensus,
        IJoinRecordStore recordStore,
        CancellationToken cancellationToken
    )
    {
        if (!await recordStore.CatchUpAsync(cancellationToken))
        {
            return new MemberAnswer(
                StatusCodes.Status503ServiceUnavailable,
                "No majority of the voters answers now, so nothing was changed. Try again when it does."
            );
        }

        // Read the guard before the members' records. The write then fails if a member changes its record meanwhile,
        // for example because its older version was reinstalled.
        var guard = new Seats(recordStore).Guard();
        var stored = recordStore.Find(FormatLevel.RecordKey);
        var agreed = FormatLevel.Of(stored);
        var newestLevels = NewestOf(consensus);
        int newest = newestLevels.Values.Max();
        if (newest <= agreed.Level)
        {
            return new MemberAnswer(
                StatusCodes.Status200OK,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Everything is written at level {agreed.Level}, the newest that this program knows."
                )
            );
        }

        string[] older =
        [
            .. newestLevels
                .Where(member => member.Value > 0 && member.Value < newest)
                .Select(member => consensus.Roster.NameAndTagOf(member.Key)),
        ];
        string[] silent =
        [
            .. newestLevels
                .Where(static member => member.Value == 0)
                .Select(member => consensus.Roster.NameAndTagOf(member.Key)),
        ];
        if (older.Length + silent.Length > 0)
        {
            string runs = older.Length == 1 ? "runs a program" : "run programs";
            string ofOlder =
                older.Length > 0
                    ? $" {NameList.Of(older)} {runs} that cannot write at level {newest}: upgrade "
                        + $"{NameList.Of(older)} first."
                    : string.Empty;
            var (has, it, them) = silent.Length == 1 ? ("has", "it", "it") : ("have", "they", "them");
            string ofSilent =
                silent.Length > 0
                    ? $" {NameList.Of(silent)} {has} not announced yet which level {it} can write: start "
                        + $"{NameList.Of(silent)} first, or remove {them}."
                    : string.Empty;
            return new MemberAnswer(
                StatusCodes.Status409Conflict,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Everything is still written at level {agreed.Level}.{ofOlder}{ofSilent}"
                )
            );
        }

        var raised = new FormatLevel(newest, FormatLevel.ProgramVersion);
        var rejection = await recordStore.ChangeAsync(
            [
                new RecordChange(FormatLevel.RecordKey, raised.ToRecord(), stored?.Version ?? ClusterRecord.Absent),
                guard,
            ],
            cancellationToken
        );
        return rejection is null
            ? new MemberAnswer(
                StatusCodes.Status200OK,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Everything is written at level {newest} from now on. A program that knows only level "
                        + $"{agreed.Level} starts on these data no more."
                )
            )
            : new MemberAnswer(StatusCodes.Status503ServiceUnavailable, rejection.Message);
    }

    /// <summary>Returns the state of an upgrade as this node knows it, even without a leader.</summary>
    /// <param name="consensus">This node's consensus.</param>
    /// <param name="recordStore">The records.</param>
    public static UpgradeState Read(RaftConsensus consensus, IJoinRecordStore recordStore) =>
        new(
            FormatLevel.Of(recordStore.Find(FormatLevel.RecordKey)).Level,
            [
                .. NewestOf(consensus)
                    .Select(member => new MemberLevel(
                        consensus.Roster.TagOf(member.Key),
                        consensus.Roster.NameOf(member.Key),
                        member.Value == 0 ? null : member.Value
                    ))
                    .OrderBy(static member => member.Tag, StringComparer.Ordinal),
            ]
        );

    /// <summary>
    /// Returns the newest level that each member's version supports, as recorded at its last start; 0 when it has
    /// recorded none.
    /// </summary>
    private static Dictionary<NodeId, int> NewestOf(RaftConsensus consensus)
    {
        var configuration = consensus.ReadState().Configuration;
        var newestLevels = consensus.Roster.Entries.ToDictionary(
            static entry => entry.Member,
            static entry => entry.Record.NewestFormatLevel
        );
        NodeId[] members = [.. configuration.Voters, .. configuration.Learners];
        foreach (var member in members)
        {
            newestLevels.TryAdd(member, 0);
        }

        newestLevels[consensus.Self] = consensus.NewestFormatLevel;
        return newestLevels;
    }
}
