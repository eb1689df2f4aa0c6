using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Where this node is now, and a certificate that is for there and for now: both change while it runs. One thread;
/// <see cref="Facts"/> from any.
/// </summary>
/// <param name="keeper">Its identity.</param>
/// <param name="look">Reads what it says of itself, with the addresses that its machine has at the moment.</param>
/// <param name="now">The time.</param>
/// <param name="log">Told when its certificate was signed anew.</param>
internal sealed class Whereabouts(
    IdentityKeeper keeper,
    Func<MemberFacts> look,
    Func<DateTimeOffset> now,
    Action<string> log
)
{
    private const int RoundsBetweenLooks = 60;

    private int _round;

    /// <summary>What it says of itself. Another object when something has changed.</summary>
    public MemberFacts Facts { get; private set; } = look();

    /// <summary>To be called once a second.</summary>
    /// <exception cref="IOException">The certificate could not be signed or written; the one of before goes
    /// on.</exception>
    public void DoRound()
    {
        bool isLook = _round++ % RoundsBetweenLooks == 0;
        if (isLook)
        {
            Look();
        }

        // Clocks step: a card without one that finds a source of time may be years later from one second to the next.
        if ((isLook || keeper.NeedsRenewal(now())) && keeper.RenewIfDue(Facts.NamesOf(keeper.Current), now()))
        {
            log("This node's certificate was signed anew.");
        }
    }

    private void Look()
    {
        var seen = look();
        bool isSame =
            seen.Addresses.SequenceEqual(Facts.Addresses, StringComparer.Ordinal)
            && seen.ClientUrls.SequenceEqual(Facts.ClientUrls, StringComparer.Ordinal);

        // A machine that lost its network for a while has not moved.
        bool isSomewhere = seen.Addresses.Count > 0 && seen.ClientUrls.Count > 0;
        if (!isSame && isSomewhere)
        {
            Facts = seen;
        }
    }
}
