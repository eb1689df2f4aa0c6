using System.Globalization;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>Explains the state of the cluster's time to operators, in sentences.</summary>
internal static class ClockStatus
{
    private const string Consequence =
        "Until then nothing expires, no idempotency key ages, and documents get the time that the cluster knows.";

    /// <summary>Explains why the cluster's time is in doubt, and what to do; null when it is not in doubt.</summary>
    public static string? ExplainDoubt(RaftCore core, long nowMicroseconds)
    {
        var (ticks, isSure) = core.ReadClock(nowMicroseconds);
        if (isSure)
        {
            return null;
        }

        if (core.Leader.IsNone)
        {
            return $"The cluster's time is in doubt, and no leader is known here that could say why. {Consequence}";
        }

        if (core.Role != Role.Leader)
        {
            return "The cluster's time is in doubt. Run `rookery status` on the leader to see why.";
        }

        return core.ClockVerdict switch
        {
            ClockVerdict.Doubted when core.Configuration.Voters.Length == 1 =>
                $"This node was off for more than ten minutes, or its clock jumped, and the machine's clock is not "
                    + $"synchronised: the node's time stays near {Text(ticks)}. Connect the machine to a source of "
                    + $"time; or see that its clock is right, and run `rookery cluster clock confirm`. {Consequence}",
            ClockVerdict.Doubted =>
                $"The clocks jumped, and no majority of the voters' clocks is synchronised: the cluster's time "
                    + $"is {Text(ticks)}. Connect the members to a source of time; or see that their clocks "
                    + $"are right, and run `rookery cluster clock confirm`. {Consequence}",
            ClockVerdict.Differ =>
                $"No majority of the voters' clocks agrees on a time: the cluster's time is {Text(ticks)}. "
                    + $"Connect the members to a source of time, or set their clocks and run `rookery cluster "
                    + $"clock confirm`. {Consequence}",
            _ => "The clocks of a majority of the voters are not known yet.",
        };
    }

    /// <summary>Describes the result of an operator's confirmation.</summary>
    public static string DescribeAnswer(ClockAnswer answer, long ticks) =>
        answer switch
        {
            ClockAnswer.Confirmed => $"The cluster's time is {Text(ticks)}.",
            ClockAnswer.ClocksDiffer =>
                "No majority of the voters' clocks is within a minute of each other, so there is no time to "
                    + "confirm. Set them (`timedatectl set-time`), see with `rookery status` that they agree, and "
                    + "confirm again.",
            _ => "This node does not lead, so nothing was confirmed. Ask again in a second.",
        };

    private static string Text(long ticks) =>
        new DateTime(ticks, DateTimeKind.Utc).ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);
}
