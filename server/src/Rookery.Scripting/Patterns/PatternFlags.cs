namespace Rookery.Scripting.Patterns;

/// <summary>The flags of a regular expression.</summary>
[Flags]
internal enum PatternFlags : byte
{
    None = 0,

    /// <summary><c>g</c>: all matches, and <c>lastIndex</c>.</summary>
    Global = 1,

    /// <summary><c>i</c>.</summary>
    IgnoresCase = 2,

    /// <summary><c>m</c>: <c>^</c> and <c>$</c> match at line ends.</summary>
    Multiline = 4,

    /// <summary><c>s</c>: <c>.</c> matches line ends.</summary>
    DotAll = 8,

    /// <summary><c>u</c>: strict syntax. The characters of a text are always whole ones.</summary>
    Unicode = 16,

    /// <summary><c>y</c>: matches only at <c>lastIndex</c>.</summary>
    Sticky = 32,
}
