using System.Text;
using Rookery.Json;

namespace Rookery.Scripting.Syntax;

/// <summary>Why a script is rejected when it is compiled.</summary>
public enum ScriptFault
{
    /// <summary>The script has a syntax error: 400.</summary>
    Syntax,

    /// <summary>The script is valid but uses something unsupported: 501.</summary>
    NotSupported,

    /// <summary>The script is too long or nests too deep: 400.</summary>
    TooLarge,
}

/// <summary>
/// Thrown if a script is rejected when it is compiled. The message names the construct. <see cref="Describe"/> shows
/// its position.
/// </summary>
/// <param name="fault">The kind of fault.</param>
/// <param name="message">A sentence without a full stop.</param>
/// <param name="position">The offset of the fault in the text, in characters.</param>
public sealed class ScriptException(ScriptFault fault, string message, int position) : Exception(message)
{
    private const int MaxQuotedCharacters = 100;

    /// <summary>The kind of fault.</summary>
    public ScriptFault Fault => fault;

    /// <summary>The offset of the fault in the text, in characters.</summary>
    public int Position => position;

    /// <summary>Returns the message, the faulty line of the text, and a caret below the position.</summary>
    /// <param name="text">The compiled text.</param>
    public string Describe(string text)
    {
        int at = Math.Min(position, text.Length);
        int lineStart = at == 0 ? 0 : text.LastIndexOf('\n', at - 1) + 1;
        int lineEnd = text.IndexOf('\n', at);
        lineEnd = lineEnd < 0 ? text.Length : lineEnd;
        int from = ShortText.BoundaryAt(text, Math.Max(lineStart, at - (MaxQuotedCharacters / 2)));
        int to = ShortText.BoundaryAt(text, Math.Min(lineEnd, from + MaxQuotedCharacters));
        return $"{Message}\n{text[from..to].Replace('\t', ' ').Replace('\r', ' ')}\n{new string(' ', at - from)}^";
    }

    /// <summary>Returns the fault as a request's error.</summary>
    internal InputError ToInputError(string text) =>
        new(
            fault == ScriptFault.NotSupported ? InputErrorCode.NotSupported : InputErrorCode.InvalidPatch,
            Describe(text),
            new InputPlace(
                Encoding.UTF8.GetByteCount(text.AsSpan(0, Math.Min(position, text.Length))),
                text.AsSpan(0, Math.Min(position, text.Length)).Count('\n') + 1,
                "Script"
            ),
            fault switch
            {
                ScriptFault.Syntax => "Correct the script",
                ScriptFault.TooLarge => "Make the script shorter",
                _ => "The reference of scripts lists what runs. For other changes, use a merge patch, or read the "
                    + "document and put it back",
            }
        );
}
