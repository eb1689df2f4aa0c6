using System.Text;
using System.Text.RegularExpressions;
using Rookery.Json;

namespace Rookery.Indexing.Definitions;

/// <summary>Finds members that a script adds to its rows, and that the index does not know as fields.</summary>
/// <param name="fields">The names of the fields.</param>
internal sealed partial class AddedMembers(IReadOnlyList<string> fields)
{
    // The pattern has no nested repetition, so matching is linear in the text.
    private const int TimeoutMilliseconds = 10_000;

    private readonly byte[][] _fields = [.. fields.Select(Encoding.UTF8.GetBytes)];

    /// <summary>Makes a search for a JavaScript text; null if the text sets no members of objects.</summary>
    public static AddedMembers? Of(string text, IReadOnlyList<string> fields) =>
        Assignment().IsMatch(text) ? new AddedMembers(fields) : null;

    /// <summary>Returns the name of the first member of a row that is no field; null if there is none.</summary>
    /// <param name="row">A JSON object without whitespace between tokens.</param>
    public string? FindIn(ReadOnlySpan<byte> row)
    {
        int at = 1;
        while (StoredJson.TryReadMember(row, ref at, out var name, out _))
        {
            var raw = row.Slice(name.Start, name.Length);
            bool isKnown = false;
            foreach (byte[] field in _fields)
            {
                isKnown |= name.Escaped ? JsonText.IsText(raw, field) : raw.SequenceEqual(field);
            }

            if (!isKnown)
            {
                return Encoding.UTF8.GetString(raw);
            }
        }

        return null;
    }

    [GeneratedRegex(
        @"(\.\s*[\w$]+|\])\s*(=(?![=>])|[-+*/%]=|\+\+|--)|(\+\+|--)\s*[\w$]",
        RegexOptions.CultureInvariant | RegexOptions.ExplicitCapture,
        TimeoutMilliseconds
    )]
    private static partial Regex Assignment();
}
