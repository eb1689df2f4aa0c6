using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Keeps the node's addresses current while it runs, and renews its certificate to match them and before it expires.
/// Used by one thread, except <see cref="Facts"/>, which any thread may read.
/// </summary>
/// <param name="keeper">Holds the node's identity.</param>
/// <param name="readFacts">Reads the node's facts, with the present addresses of its machine.</param>
/// <param name="readClock">Returns the current time.</param>
/// <param name="log">Receives a sentence when the certificate was signed again.</param>
internal sealed class AddressKeeper(
    IdentityKeeper keeper,
    Func<MemberFacts> readFacts,
    Func<SigningClock> readClock,
    Action<string> log
)
{
    private const int RoundsBetweenChecks = 60;

    private int _round;

    /// <summary>The node's facts, as a new object after each change.</summary>
    public MemberFacts Facts { get; private set; } = readFacts();

    /// <summary>
    /// Checks the addresses once a minute, and renews the certificate if the renewal is due. Call it once a second.
    /// </summary>
    /// <exception cref="IOException">The certificate could not be signed or written. The previous one stays in
    /// use.</exception>
    public void DoRound()
    {
        bool isAddressCheck = _round % RoundsBetweenChecks == 0;
        _round++;
        if (isAddressCheck)
        {
            UpdateFacts();
        }

        // Check the certificate each second: the clock of a board without a battery may jump by years when it first
        // reaches a time source.
        var clock = readClock();
        if ((isAddressCheck || keeper.NeedsRenewal(clock)) && keeper.RenewIfDue(Facts.NamesOf(keeper.Current), clock))
        {
            log("This node's certificate was signed anew.");
        }
    }

    private void UpdateFacts()
    {
        var facts = readFacts();
        bool isSame =
            facts.Addresses.SequenceEqual(Facts.Addresses, StringComparer.Ordinal)
            && facts.ClientUrls.SequenceEqual(Facts.ClientUrls, StringComparer.Ordinal);

        // Ignore a temporary loss of the network, during which the node has no addresses.
        bool hasAddresses = facts.Addresses.Count > 0 && facts.ClientUrls.Count > 0;
        if (!isSame && hasAddresses)
        {
            Facts = facts;
        }
    }
}
