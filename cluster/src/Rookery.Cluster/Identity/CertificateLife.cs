using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The validity periods of certificates. A board's clock may be wrong: without a battery it boots in 1970 or at the
/// date of its system, and with an empty battery at any time. A wrong clock must not lock clients out or produce
/// certificates that are unusable later.
/// </summary>
internal static class CertificateLife
{
    /// <summary>
    /// The validity of a leaf: one day less than the longest that browsers accept from any authority (CA/Browser Forum
    /// ballot SC-31: 398 days).
    /// </summary>
    public static readonly TimeSpan LeafValidity = TimeSpan.FromDays(397);

    /// <summary>The earliest plausible time: this software did not exist earlier.</summary>
    public static readonly DateTimeOffset EarliestPlausible = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>
    /// How long before the signing time a certificate becomes valid, for verifiers whose clocks are slow.
    /// </summary>
    private static readonly TimeSpan Backdating = TimeSpan.FromDays(1);

    /// <summary>
    /// The validity of an authority: from 1970, because clocks may show that, to the date that means "no well-defined
    /// end" (RFC 5280 4.1.2.5). Authorities are replaced by rotation and do not expire.
    /// </summary>
    public static (DateTimeOffset NotBefore, DateTimeOffset NotAfter) OfAuthority =>
        (DateTimeOffset.UnixEpoch, new DateTimeOffset(9999, 12, 31, 23, 59, 59, TimeSpan.Zero));

    /// <summary>Returns the validity of a leaf that is signed now.</summary>
    public static (DateTimeOffset NotBefore, DateTimeOffset NotAfter) LeafFrom(DateTimeOffset now)
    {
        var notBefore = Plausible(now) - Backdating;
        return (notBefore, notBefore + LeafValidity - TimeSpan.FromSeconds(1));
    }

    /// <summary>
    /// Returns the signing time for a leaf that replaces another. If the clock is not sure, the time is at least the
    /// signing time of the replaced leaf, so that the new leaf does not expire earlier.
    /// </summary>
    public static DateTimeOffset SigningTime(SigningClock clock, X509Certificate2 replaced)
    {
        var replacedSigning = Of(replaced).NotBefore + Backdating;
        return Plausible(clock.IsSure || clock.Now > replacedSigning ? clock.Now : replacedSigning);
    }

    /// <summary>Returns the later of <paramref name="now"/> and <see cref="EarliestPlausible"/>.</summary>
    public static DateTimeOffset Plausible(DateTimeOffset now) => now > EarliestPlausible ? now : EarliestPlausible;

    /// <summary>
    /// Whether a leaf must be signed again: two thirds of its validity have passed, or it begins in the future, because
    /// the clock was fast when it was signed. While the clock is not sure, a leaf that begins in the future is kept:
    /// the clock is probably slow, and the new leaf would get the same signing time (<see cref="SigningTime"/>).
    /// </summary>
    public static bool NeedsRenewal(X509Certificate2 leaf, SigningClock clock)
    {
        var (notBefore, notAfter) = Of(leaf);
        var now = clock.Now;
        bool isOfFuture = clock.IsSure && now < notBefore;
        return now >= EarliestPlausible && (isOfFuture || now >= notBefore + ((notAfter - notBefore) * 2 / 3));
    }

    /// <summary>
    /// Returns the validity of a certificate, in UTC. The framework reports it in the machine's time zone.
    /// </summary>
    public static (DateTimeOffset NotBefore, DateTimeOffset NotAfter) Of(X509Certificate2 certificate) =>
        (
            new DateTimeOffset(certificate.NotBefore.ToUniversalTime()),
            new DateTimeOffset(certificate.NotAfter.ToUniversalTime())
        );
}
