using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// How long certificates live. A clock may be wrong: a card without one boots in 1970, and one with an empty battery
/// anywhere, and neither may lock anybody out or poison what is signed meanwhile.
/// </summary>
internal static class CertificateLife
{
    /// <summary>The longest that browsers bear from any authority (CA/Browser Forum ballot SC-31: 398 days).</summary>
    public static readonly TimeSpan OfLeaf = TimeSpan.FromDays(397);

    /// <summary>No node of this software ran before it: a clock that says so is wrong.</summary>
    public static readonly DateTimeOffset EarliestPlausible = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>The clocks of others may be a little behind that of who signs.</summary>
    private static readonly TimeSpan Backdating = TimeSpan.FromDays(1);

    /// <summary>
    /// From 1970, so that a clock there finds the authority valid, to the date that means "no well-defined end" (RFC
    /// 5280 4.1.2.5), so that one in 2105 does too. An authority goes by being rotated, not by a date that falls on a
    /// Sunday in twenty years.
    /// </summary>
    public static (DateTimeOffset NotBefore, DateTimeOffset NotAfter) OfAuthority =>
        (DateTimeOffset.UnixEpoch, new DateTimeOffset(9999, 12, 31, 23, 59, 59, TimeSpan.Zero));

    /// <summary>The life of a leaf signed now.</summary>
    public static (DateTimeOffset NotBefore, DateTimeOffset NotAfter) LeafFrom(DateTimeOffset now)
    {
        var notBefore = Plausible(now) - Backdating;
        return (notBefore, notBefore + OfLeaf - TimeSpan.FromSeconds(1));
    }

    /// <summary>
    /// When a leaf is signed in the place of another: a clock that is certainly wrong makes none that ends before the
    /// one that it replaces.
    /// </summary>
    public static DateTimeOffset SigningTime(DateTimeOffset now, X509Certificate2 replaced) =>
        now >= EarliestPlausible ? now : Plausible(Of(replaced).NotBefore + Backdating);

    /// <summary>The clock's time, or the earliest that it can be.</summary>
    public static DateTimeOffset Plausible(DateTimeOffset now) => now > EarliestPlausible ? now : EarliestPlausible;

    /// <summary>
    /// Whether a leaf is to be signed again: two thirds of its life are over, or it begins in the future, because the
    /// clock ran ahead when it was signed. A clock that is certainly wrong renews nothing: others would find what it
    /// signs expired.
    /// </summary>
    public static bool NeedsRenewal(X509Certificate2 leaf, DateTimeOffset now)
    {
        var (notBefore, notAfter) = Of(leaf);
        return now >= EarliestPlausible && (now < notBefore || now >= notBefore + ((notAfter - notBefore) * 2 / 3));
    }

    /// <summary>The life of a certificate. The framework gives it in the machine's own time zone.</summary>
    public static (DateTimeOffset NotBefore, DateTimeOffset NotAfter) Of(X509Certificate2 certificate) =>
        (
            new DateTimeOffset(certificate.NotBefore.ToUniversalTime()),
            new DateTimeOffset(certificate.NotAfter.ToUniversalTime())
        );
}
