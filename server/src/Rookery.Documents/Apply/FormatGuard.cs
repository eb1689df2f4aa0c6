using System.Diagnostics.CodeAnalysis;

namespace Rookery.Documents.Apply;

/// <summary>Checks the format byte of stored rows.</summary>
internal static class FormatGuard
{
    /// <summary>Throws if a row has an unknown format.</summary>
    /// <exception cref="RowFormatException"><paramref name="known"/> is false.</exception>
    /// <param name="known">Whether this version knows the format.</param>
    /// <param name="row">What the row contains, in a word or two for the message.</param>
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

/// <summary>Thrown if a row's checksum is right but this program does not know its format.</summary>
/// <param name="message">One sentence that names the row.</param>
public sealed class RowFormatException(string message) : IOException(message);
