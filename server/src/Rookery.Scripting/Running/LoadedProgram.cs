using Rookery.Platform;
using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Running;

/// <summary>A program made ready to run: its constants in the heap, and where its functions begin.</summary>
internal sealed class LoadedProgram
{
    /// <summary>Texts that instructions name by their number.</summary>
    public ScriptValue[] Constants { get; private set; } = [];

    /// <summary>Functions that instructions name by their number.</summary>
    public LoadedFunction[] Functions { get; private set; } = [];

    /// <summary>Where the instructions begin in the program's bytes.</summary>
    public int CodeStart { get; private set; }

    /// <summary>Bytes of the heap that the constants take, from its begin.</summary>
    public int ConstantBytes { get; private set; }

    /// <summary>Reads an encoded program, whose constants go into a heap that is empty.</summary>
    /// <exception cref="ScriptFormatException">It is no program.</exception>
    public void Read(ReadOnlySpan<byte> program, ScriptHeap heap)
    {
        if (program.IsEmpty || program[0] != ScriptProgram.Version)
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

    /// <summary>Forgets the program, whose constants the heap gave back.</summary>
    public void Forget() => ConstantBytes = 0;
}

/// <summary>A function of a program.</summary>
/// <param name="Parameters">How many of its locals are given to it.</param>
/// <param name="Locals">How many it has.</param>
/// <param name="Start">Where its instructions begin, behind the first of the program.</param>
internal readonly record struct LoadedFunction(int Parameters, int Locals, int Start);
