using System.Security.Cryptography;

namespace Rookery.Platform;

/// <summary>
/// Chooses the numbers of files whose checksums contain their number. Each opening of a store continues at a random
/// distance after the numbers in use. So a file of another store, or of a copy of this store, has another number, and
/// fails its check here.
/// </summary>
public static class FileNumbers
{
    // A power of two. Each opening that writes a manifest uses up half of it on average, so the limit is reached after
    // sixteen million openings.
    private const long MaxDistance = 1L << 40;
    private const long Limit = long.MaxValue - (2 * MaxDistance);

    /// <summary>Returns the number of the first file that an opened store writes.</summary>
    /// <param name="next">The lowest unused number.</param>
    public static long FirstFrom(long next)
    {
        if (next >= Limit)
        {
            return next;
        }

        long random = BitConverter.ToInt64(RandomNumberGenerator.GetBytes(sizeof(long)));
        return next + (random & (MaxDistance - 1));
    }
}
