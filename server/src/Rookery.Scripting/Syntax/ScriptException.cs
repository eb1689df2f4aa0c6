using System.Text;
using Rookery.Json;

namespace Rookery.Scripting.Syntax;

/// <summary>Why a script is refused when it is compiled.</summary>
public enum ScriptFault
{
    /// <summary>It is no text of its language: 400.</summary>
    Syntax,

    /// <summary>It is valid, but uses what this server does not run: 501.</summary>
    NotSupported,

    /// <summary>It is longer or deeper than scripts may be: 400.</summary>
    TooLarge,
}

/// <summary>A script is refused. The message names the construct; <see cref="Describe"/> shows the place.</summary>
/// <param name="fault">Why.</param>
/// <param name="message">A sentence without its full stop.</param>
/// <param name="position">Characters of the text before the place.</param>
public sealed class ScriptException(ScriptFault fault, string message, int position) : Exception(message)
{
    private const int MostQuotedCharacters = 100;

    /// <summary>Why.</summary>
    public ScriptFault Fault => fault;

    /// <summary>Characters of the text before the place.</summary>
    public int Position => position;

    /// <summary>The message, the line of the text it is about, and a caret below the place.</summary>
    /// <param name="text">The text that was compiled.</param>
    public string Describe(string text)
    {
        int at = Math.Min(position, text.Length);
        int lineStart = at == 0 ? 0 : text.LastIndexOf('\n', at - 1) + 1;
        int lineEnd = text.IndexOf('\n', at);
        lineEnd = lineEnd < 0 ? text.Length : lineEnd;
        int from = Math.Max(lineStart, at - (MostQuotedCharacters / 2));
        int to = Math.Min(lineEnd, from + MostQuotedCharacters);
        return $"{Message}\n{text[from..to].Replace('\t', ' ').Replace('\r', ' ')}\n{new string(' ', at - from)}^";
    }

    /// <summary>The refusal as requests answer it.</summary>
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
                _ => "The reference of scripts lists what runs; a merge patch, or reading and putting the "
                    + "document, does the rest",
            }
        );
}
