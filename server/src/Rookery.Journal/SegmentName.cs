using System.Globalization;

namespace Rookery.Journal;

/// <summary>
/// File names in a journal directory. The number identifies a file, not its order. Segments are recycled, so their
/// headers define the order.
/// </summary>
internal static class SegmentName
{
    public const string PartSuffix = ".part";
    private const string AsideSuffix = ".aside";
    private const string Prefix = "journal-";
    private const string Suffix = ".segment";
    private const int SlotDigits = 8; // as in the format D8

    public static string Of(int slot) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{slot:D8}{Suffix}");

    /// <summary>
    /// Returns the n-th name under which a file is kept aside for the operator. Files with such names are never read.
    /// </summary>
    public static string Aside(string name, int number) =>
        string.Create(CultureInfo.InvariantCulture, $"{name}{AsideSuffix}-{number}");

    /// <summary>Returns the name of the file that is kept aside under a name; null for any other name.</summary>
    public static string? FindKeptAside(string name)
    {
        int suffix = name.IndexOf(AsideSuffix, StringComparison.Ordinal);
        return suffix < 0 ? null : name[..suffix];
    }

    public static bool TryParse(string name, out int slot)
    {
        slot = 0;
        return name.Length == Prefix.Length + SlotDigits + Suffix.Length
            && name.StartsWith(Prefix, StringComparison.Ordinal)
            && name.EndsWith(Suffix, StringComparison.Ordinal)
            && int.TryParse(
                name.AsSpan(Prefix.Length, SlotDigits),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out slot
            );
    }

    /// <summary>Returns whether a file is an unfinished segment.</summary>
    public static bool IsPart(string name) =>
        name.EndsWith(PartSuffix, StringComparison.Ordinal) && TryParse(name[..^PartSuffix.Length], out _);
}
