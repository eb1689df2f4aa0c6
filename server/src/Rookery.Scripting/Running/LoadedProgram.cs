using Rookery.Platform;
using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Running;

/// <summary>
/// A decoded program, ready to run: its constants are in the heap, and the start of each function is known.
/// </summary>
internal sealed class LoadedProgram
{
    /// <summary>The constant texts, by number.</summary>
    public ScriptValue[] Constants { get; private set; } = [];

    /// <summary>The functions, by number.</summary>
    public LoadedFunction[] Functions { get; private set; } = [];

    /// <summary>The offset of the first instruction in the program's bytes.</summary>
    public int CodeStart { get; private set; }

    /// <summary>Bytes of constants at the beginning of the heap.</summary>
    public int ConstantBytes { get; private set; }

    /// <summary>Reads an encoded program, and adds its constants to an empty heap.</summary>
    /// <exception cref="ScriptFormatException">The bytes are no valid program.</exception>
    public void Read(ReadOnlySpan<byte> program, ScriptHeap heap)
    {
        if (program.IsEmpty || program[0] is not (ScriptProgram.FirstVersion or ScriptProgram.SecondVersion))
        {
            throw ScriptProgram.Broken();
        }

        int at = 1;
        int count = ScriptProgram.ReadNumber(program, ref at);
        if (count > Constants.Length)
        {
            Constants = new ScriptValue[Math.Min(count, program.Length)];
        }

        for (int index = 0; index < count; index++)
        {
            Constants[index] = Varint.TryReadBytes(program, ref at, out var text)
                ? heap.NewText(text)
                : throw ScriptProgram.Broken();
        }

        count = ScriptProgram.ReadNumber(program, ref at);
        if (count > Functions.Length)
        {
            Functions = new LoadedFunction[Math.Min(count, program.Length)];
        }

        for (int index = 0; index < count; index++)
        {
            Functions[index] = new LoadedFunction(
                ScriptProgram.ReadNumber(program, ref at),
                ScriptProgram.ReadNumber(program, ref at),
                ScriptProgram.ReadNumber(program, ref at)
            );
        }

        CodeStart = at;
        ConstantBytes = heap.Length;
    }

    /// <summary>Marks the program as unloaded, after the heap has released its constants.</summary>
    public void MarkUnloaded() => ConstantBytes = 0;
}

/// <summary>A function of a program.</summary>
/// <param name="Parameters">Number of parameters; they are the first locals.</param>
/// <param name="Locals">Number of locals.</param>
/// <param name="Start">The offset of its first instruction from the first of the program.</param>
internal readonly record struct LoadedFunction(int Parameters, int Locals, int Start);
