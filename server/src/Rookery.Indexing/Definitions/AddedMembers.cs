using System.Text;
using Rookery.Json;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Finds members that a script adds to its rows, and that the index does not know as fields.</summary>
/// <param name="fields">The names of the fields.</param>
internal sealed class AddedMembers(IReadOnlyList<string> fields)
{
    private readonly byte[][] _fields = [.. fields.Select(Encoding.UTF8.GetBytes)];

    /// <summary>Creates the finder for a JavaScript text; null if the text cannot set members of objects.</summary>
    public static AddedMembers? Of(string text, IReadOnlyList<string> fields) =>
        SetsMembers(text) ? new AddedMembers(fields) : null;

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

    private static bool IsAssignment(string punctuator) =>
        punctuator.EndsWith('=') && punctuator is not ("==" or "!=" or "===" or "!==" or "<=" or ">=");

    /// <summary>
    /// Returns whether the text may set a member of an object. Templates are one token each, so any <c>=</c>, <c>+</c>
    /// or <c>-</c> in a template counts as an assignment.
    /// </summary>
    private static bool SetsMembers(string text)
    {
        var tokens = new Lexer(text, isCSharp: false).ReadAll(offset: 0);
        for (int index = 0; index < tokens.Count; index++)
        {
            var token = tokens[index];
            bool isSet = token.Kind switch
            {
                TokenKind.Template => token.Text.AsSpan().ContainsAny("=+-"),
                TokenKind.Punctuator when token.Text is "++" or "--" => true,
                TokenKind.Punctuator when IsAssignment(token.Text) => index > 0
                    && (
                        tokens[index - 1].Is("]")
                        || (index > 1 && (tokens[index - 2].Is(".") || tokens[index - 2].Is("?.")))
                    ),
                _ => false,
            };
            if (isSet)
            {
                return true;
            }
        }

        return false;
    }
}
