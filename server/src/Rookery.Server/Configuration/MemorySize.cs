using System.Globalization;

namespace Rookery.Server.Configuration;

/// <summary>
/// Reads amounts of memory: a number of bytes, or a number with K, M or G (powers of 1024; "KiB" and "KB" mean the
/// same).
/// </summary>
public static class MemorySize
{
    /// <summary>The least memory that a node needs, in bytes.</summary>
    public const long MinimumBytes = 96L << 20;

    /// <summary>Reads an amount, in bytes.</summary>
    /// <returns>False if the text is not an amount.</returns>
    public static bool TryParse(string text, out long bytes)
    {
        ReadOnlySpan<char> trimmed = text.AsSpan().Trim();
        int digits = trimmed.IndexOfAnyExceptInRange('0', '9');
        if (digits < 0)
        {
            return long.TryParse(trimmed, NumberStyles.None, CultureInfo.InvariantCulture, out bytes);
        }

        bytes = 0;
        int shift = ShiftOf(trimmed[digits..].Trim());
        if (
            shift < 0
            || !long.TryParse(trimmed[..digits], NumberStyles.None, CultureInfo.InvariantCulture, out long number)
            || number > long.MaxValue >> shift
        )
        {
            return false;
        }

        bytes = number << shift;
        return true;
    }

    /// <summary>
    /// Returns a quarter of the memory of the machine or of its control group, at least <see cref="MinimumBytes"/>.
    /// </summary>
    public static long DefaultBytes() => Math.Max(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, MinimumBytes);

    private static int ShiftOf(ReadOnlySpan<char> unit)
    {
        if (unit.EndsWith("iB", StringComparison.Ordinal))
        {
            unit = unit[..^2];
        }
        else if (unit.EndsWith("B", StringComparison.OrdinalIgnoreCase))
        {
            unit = unit[..^1];
        }

        return unit switch
        {
            "" => 0,
            "K" or "k" => 10,
            "M" or "m" => 20,
            "G" or "g" => 30,
            _ => -1,
        };
    }
}
