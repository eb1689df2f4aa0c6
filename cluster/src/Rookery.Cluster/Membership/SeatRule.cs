namespace Rookery.Cluster.Membership;

/// <summary>
/// How many of so many members vote when nobody decided otherwise. Even numbers bear no more losses than the odd one below and wait for more cards; two voters bear none, so the second of two
/// is a standby until the owner makes it a mirror.
/// </summary>
internal static class SeatRule
{
    public static int VotersOf(int members) => members switch
    {
        <= 2 => 1,
        <= 4 => 3,
        _ => 5,
    };
}
