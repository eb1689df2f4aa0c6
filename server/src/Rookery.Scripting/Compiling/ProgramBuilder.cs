using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>Collects the constants, functions and instructions of a program.</summary>
internal sealed class ProgramBuilder
{
    private readonly ArrayBufferWriter<byte> _code = new();
    private readonly Dictionary<string, int> _constants = new(StringComparer.Ordinal);
    private readonly List<FunctionEntry> _functions = [];
    private readonly List<(int Offset, int Line)> _lines = [];
    private byte _version = ScriptProgram.FirstVersion;

    /// <summary>The line of the script to which the next instructions belong, from 1.</summary>
    public int Line
    {
        get;
        set
        {
            if (value != field)
            {
                field = value;
                _lines.Add((_code.WrittenCount, value));
            }
        }
    } = 1;

    /// <summary>Declares a function, to be written later, and returns its number.</summary>
    public int Declare()
    {
        _functions.Add(default);
        return _functions.Count - 1;
    }

    /// <summary>Begins a function at the current position.</summary>
    public void Begin(int function, int parameters) =>
        _functions[function] = new FunctionEntry(parameters, parameters, _code.WrittenCount);

    /// <summary>Sets the number of a function's locals, including its parameters.</summary>
    public void End(int function, int locals) => _functions[function] = _functions[function] with { Locals = locals };

    /// <summary>Adds an instruction without operands.</summary>
    public void Emit(Opcode opcode)
    {
        if (opcode >= Opcode.BitwiseAnd)
        {
            _version = ScriptProgram.SecondVersion;
        }

        _code.GetSpan(1)[0] = (byte)opcode;
        _code.Advance(1);
    }

    /// <summary>Marks the program as one that the first version cannot run.</summary>
    public void RequireSecondVersion() => _version = ScriptProgram.SecondVersion;

    /// <summary>Adds a call of a built-in function.</summary>
    /// <param name="function">The function.</param>
    /// <param name="arguments">The number of arguments, including the receiver.</param>
    public void EmitInvoke(ScriptFunction function, int arguments)
    {
        if (function >= ScriptFunction.NewPattern)
        {
            RequireSecondVersion();
        }

        Emit(Opcode.Invoke, (int)function, arguments);
    }

    /// <summary>Adds an instruction with one number.</summary>
    public void Emit(Opcode opcode, int operand)
    {
        Emit(opcode);
        Add(operand);
    }

    /// <summary>Adds an instruction with two numbers.</summary>
    public void Emit(Opcode opcode, int first, int second)
    {
        Emit(opcode, first);
        Add(second);
    }

    /// <summary>Adds an instruction with a constant text.</summary>
    public void Emit(Opcode opcode, string text)
    {
        if (!_constants.TryGetValue(text, out int index))
        {
            index = _constants.Count;
            _constants.Add(text, index);
        }

        Emit(opcode, index);
    }

    /// <summary>Adds a push of a number.</summary>
    public void EmitNumber(double value)
    {
        Emit(Opcode.PushNumber);
        BinaryPrimitives.WriteDoubleLittleEndian(_code.GetSpan(sizeof(double)), value);
        _code.Advance(sizeof(double));
    }

    /// <summary>
    /// Adds a push of a C# number: <paramref name="whole"/>, or if that is null, <paramref name="value"/> as a double.
    /// </summary>
    public void EmitNumber(double value, long? whole)
    {
        Emit(whole is null ? Opcode.PushReal : Opcode.PushWhole);
        BinaryPrimitives.WriteInt64LittleEndian(
            _code.GetSpan(sizeof(long)),
            whole ?? BitConverter.DoubleToInt64Bits(value)
        );
        _code.Advance(sizeof(long));
    }

    /// <summary>Adds a jump.</summary>
    public void Emit(Opcode opcode, JumpTarget target)
    {
        Emit(opcode);
        AddTarget(target);
    }

    /// <summary>Adds the step of an iteration.</summary>
    public void EmitNext(int iteration, int element, JumpTarget end)
    {
        Emit(Opcode.NextElement, iteration, element);
        AddTarget(end);
    }

    /// <summary>Adds an instruction with the numbers of three locals and a jump target.</summary>
    public void Emit(Opcode opcode, int first, int second, int third, JumpTarget target)
    {
        Emit(opcode, first, second);
        Add(third);
        AddTarget(target);
    }

    /// <summary>Sets a jump target to the current position.</summary>
    public void Mark(JumpTarget target) => target.Offset = _code.WrittenCount;

    /// <summary>Returns the encoded program.</summary>
    /// <exception cref="ScriptException">The program is too long.</exception>
    public byte[] Build(IEnumerable<JumpTarget> targets)
    {
        byte[] instructions = _code.WrittenSpan.ToArray();
        foreach (var target in targets)
        {
            foreach (int use in target.Uses)
            {
                BinaryPrimitives.WriteInt32LittleEndian(instructions.AsSpan(use), target.Offset);
            }
        }

        var output = new PooledBytes();
        output.Append(_version);
        Add(output, _constants.Count);
        foreach (string text in _constants.Keys)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text);
            output.Advance(Varint.WriteBytes(output.Reserve(Varint.MaxBytes32 + bytes.Length), bytes));
        }

        Add(output, _functions.Count);
        foreach (var (parameters, locals, start) in _functions)
        {
            Add(output, parameters);
            Add(output, locals);
            Add(output, start);
        }

        output.Append(instructions);
        int length = output.Length;
        if (_lines.Count > 0)
        {
            LineTable.Append(output, _lines);
        }

        // If a program is too long only because of its lines, they are left out. Its failures then name no line.
        byte[] program = output.Written[..(output.Length > ScriptProgram.MaxBytes ? length : output.Length)].ToArray();
        output.Release();
        return program.Length <= ScriptProgram.MaxBytes
            ? program
            : throw new ScriptException(ScriptFault.TooLarge, TooLarge(program.Length), position: 0);
    }

    private static string TooLarge(int bytes)
    {
        var (actual, max) = Amount.BytesOver(bytes, ScriptProgram.MaxBytes);
        return $"The script takes {actual} when compiled, and at most {max} are allowed";
    }

    // Reserves the operand of a jump. Build writes it, because the offset of the target may not be known yet.
    private void AddTarget(JumpTarget target)
    {
        target.Uses.Add(_code.WrittenCount);
        _code.GetSpan(sizeof(int))[..sizeof(int)].Clear();
        _code.Advance(sizeof(int));
    }

    private void Add(int operand) => _code.Advance(Varint.Write(_code.GetSpan(Varint.MaxBytes32), (uint)operand));

    private static void Add(PooledBytes output, int number) =>
        output.Advance(Varint.Write(output.Reserve(Varint.MaxBytes32), (uint)number));

    private readonly record struct FunctionEntry(int Parameters, int Locals, int Start);
}

/// <summary>The target of jumps.</summary>
internal sealed class JumpTarget
{
    /// <summary>The offset of the target in the instructions.</summary>
    public int Offset { get; set; }

    /// <summary>The offsets of the operands to which <see cref="Offset"/> is written.</summary>
    public List<int> Uses { get; } = [];
}
