using Rookery.Documents.Consensus;

namespace Rookery.Documents.Apply;

/// <summary>
/// Running hash of the outcomes of commands: refusals, results, etags and numbers. Stored in the tables. Members
/// compare their hashes to detect that their data diverged: by damage that no checksum found, or by program versions
/// that apply a command differently. Not cryptographic, because members trust each other.
/// </summary>
internal static class OutcomeChain
{
    /// <summary>The value before the first command.</summary>
    public const long Start = 1;

    /// <summary>Unknown. Adding an outcome leaves it unknown.</summary>
    public const long Unknown = 0;

    /// <summary>Returns the hash after an outcome; <see cref="Unknown"/> if the hash before it is unknown.</summary>
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

    // A step of MurmurHash3's 64-bit finalizer, so each bit of the hash and of the value affects all bits of the
    // result.
    private static ulong Mix(ulong hash, ulong value)
    {
        hash = (hash ^ value) * 0xff51afd7ed558ccd;
        return (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
    }
}
