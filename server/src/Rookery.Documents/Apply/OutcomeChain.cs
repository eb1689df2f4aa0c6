using Rookery.Documents.Consensus;

namespace Rookery.Documents.Apply;

/// <summary>
/// A chain over what commands came to: refusals, results, etags and numbers. It goes on from what the manifest holds,
/// so it tells of rows that rotted unnoticed as well as of code that does not apply alike. Cheap, not cryptographic: it
/// is compared among members that trust each other.
/// </summary>
internal static class OutcomeChain
{
    /// <summary>Before the first command.</summary>
    public const long Start = 1;

    /// <summary>Not known; it stays so.</summary>
    public const long Unknown = 0;

    public static long Add(long chain, in CommandOutcome outcome)
    {
        if (chain == Unknown)
        {
            return Unknown;
        }

        ulong hash = Mix(
            (ulong)chain,
            outcome.Rejection is { } rejection ? (ulong)rejection.Kind : 0x100 + (ulong)outcome.Count
        );
        for (int i = 0; i < outcome.Count; i++)
        {
            var result = outcome[i];
            hash = Mix(hash, (ulong)result.Status);
            hash = Mix(hash, (ulong)result.Etag);
            hash = Mix(hash, (ulong)result.Low);
            hash = Mix(hash, (ulong)result.High);
        }

        return hash == (ulong)Unknown ? Start : (long)hash;
    }

    // A step of MurmurHash3's 64-bit finalizer over the sum: each bit of either reaches all of the next.
    private static ulong Mix(ulong hash, ulong value)
    {
        hash = (hash ^ value) * 0xff51afd7ed558ccd;
        return (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
    }
}
