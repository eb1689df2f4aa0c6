namespace Rookery.Scripting.Patterns;

/// <summary>Thrown if a regular expression is malformed, too large, or uses unsupported syntax.</summary>
/// <param name="isSupported">Whether this server supports the syntax, which is malformed or too large.</param>
/// <param name="message">A sentence part: what the regular expression has or is.</param>
internal sealed class PatternException(bool isSupported, string message) : Exception(message)
{
    /// <summary>Whether the syntax is supported, but malformed or too large.</summary>
    public bool IsSupported => isSupported;

    /// <summary>Returns the error for syntax of JavaScript that this server does not run.</summary>
    public static PatternException NotSupported(string construct) => new(isSupported: false, construct);

    /// <summary>Returns the error for a malformed regular expression.</summary>
    public static PatternException Malformed(string fault) => new(isSupported: true, fault);
}
