using System.Diagnostics.CodeAnalysis;

namespace Rookery.Documents.Apply;

/// <summary>Checks the format byte of rows that only apply writes.</summary>
internal static class FormatGuard
{
    /// <summary>Refuses a row of an unknown format.</summary>
    /// <exception cref="RowFormatException">The row is not of a format this program knows.</exception>
    public static void Expect([DoesNotReturnIf(false)] bool known, string row)
    {
        if (!known)
        {
            throw new RowFormatException(
                $"A {row} row has a format that this version does not know; it was written by a newer "
                    + $"version of Rookery."
            );
        }
    }
}

/// <summary>A row passed its checksum but is of a format that this program does not know.</summary>
/// <param name="message">Which row, in one sentence.</param>
public sealed class RowFormatException(string message) : IOException(message);
