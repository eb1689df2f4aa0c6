namespace Rookery.Scripting.Patterns;

/// <summary>The operation of an instruction of a regular expression.</summary>
internal enum PatternOpcode : byte
{
    /// <summary>The text matches.</summary>
    Match,

    /// <summary>Operand: a character.</summary>
    Character,

    /// <summary>Operand: the number of a set.</summary>
    Set,

    /// <summary>Operands: the instruction to try first, and the other one.</summary>
    Split,

    /// <summary>Operand: the next instruction.</summary>
    Jump,

    /// <summary>Operand: the slot that receives the position.</summary>
    Save,

    /// <summary>Operands: the first slot to clear, and the one after the last.</summary>
    Clear,

    /// <summary><c>^</c> without the flag m.</summary>
    TextStart,

    /// <summary><c>$</c> without the flag m.</summary>
    TextEnd,

    /// <summary><c>^</c> with the flag m.</summary>
    LineStart,

    /// <summary><c>$</c> with the flag m.</summary>
    LineEnd,

    /// <summary><c>\b</c>.</summary>
    WordBoundary,

    /// <summary><c>\B</c>.</summary>
    NoWordBoundary,
}

/// <summary>An instruction of a regular expression.</summary>
internal readonly record struct PatternInstruction(PatternOpcode Opcode, int First = 0, int Second = 0);

/// <summary>A compiled regular expression.</summary>
internal sealed record Pattern
{
    /// <summary>The instructions. Each continues with the next one, unless its operands say otherwise.</summary>
    public required PatternInstruction[] Instructions { get; init; }

    /// <summary>The sets of characters.</summary>
    public required CharacterSet[] Sets { get; init; }

    /// <summary>Number of captures, including the whole match.</summary>
    public required int Captures { get; init; }

    /// <summary>The names of captures with their numbers; empty for none.</summary>
    public required IReadOnlyList<(string Name, int Number)> Names { get; init; }

    /// <summary>The flags.</summary>
    public required PatternFlags Flags { get; init; }

    /// <summary>The byte with which every match begins; -1 if there is no such byte.</summary>
    public int FirstByte { get; init; } = -1;

    /// <summary>Memory of the compiled form, in bytes.</summary>
    public long Bytes => (Instructions.Length * 12L) + Sets.Sum(static set => 64L + (set.Ranges * 8));
}
