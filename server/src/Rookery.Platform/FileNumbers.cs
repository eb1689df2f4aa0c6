using System.Security.Cryptography;

namespace Rookery.Platform;

/// <summary>
/// Chooses the numbers of files whose checksums contain their number. Each opening of a store goes on at a random
/// distance after the numbers in use, so that no file of another store, or of a copy of this store, has the number of
/// one of its files and could be taken for it.
/// </summary>
public static class FileNumbers
{
    // Each opening that writes a manifest uses up half of this on average: sixteen million openings until the limit.
    private const long MaxDistance = 1L << 40;
    private const long Limit = long.MaxValue - (2 * MaxDistance);

    /// <summary>Returns the number of the first file that an opened store writes.</summary>
    /// <param name="next">The lowest unused number.</param>
    public static long FirstFrom(long next) =>
        next < Limit
            ? next + (BitConverter.ToInt64(RandomNumberGenerator.GetBytes(sizeof(long))) & (MaxDistance - 1))
            : next;
}
