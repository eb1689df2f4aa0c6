using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// Runs compiled scripts over documents. Deterministic: no clock, no randomness, no culture, no tables but its own;
/// steps and memory are counted and bounded. One thread at a time; used again for the next document, it allocates
/// nothing for small ones.
/// </summary>
/// <remarks>
/// Load a program; for each document <see cref="Begin"/>, add its parameters in their order, <see cref="TryRun()"/>,
/// and write what is wanted of the result.
/// </remarks>
public sealed class ScriptInterpreter : IDisposable
{
    private readonly ScriptLimits _limits;
    private readonly ScriptContext _context;
    private readonly ScriptHeap _heap;
    private readonly LoadedProgram _program = new();
    private readonly StackMachine _machine;
    private readonly ResultWriter _writer;
    private readonly List<ScriptValue> _parameters = [];
    private ReadOnlyMemory<byte> _loaded;
    private ScriptValue _result;

    /// <summary>Makes one.</summary>
    /// <param name="limits">What a run may cost; the default ones where none are given.</param>
    public ScriptInterpreter(ScriptLimits? limits = null)
    {
        _limits = limits ?? ScriptLimits.Default;
        _context = new ScriptContext(_limits);
        _heap = _context.Heap;
        _machine = new StackMachine(_context, _program);
        _writer = new ResultWriter(_heap, _limits);
    }

    /// <summary>Where <c>load</c> finds documents; without one, it finds none.</summary>
    public IScriptDocuments? Documents
    {
        get => _context.Documents.Source;
        set => _context.Documents.Source = value;
    }

    /// <summary>
    /// Asked for so many bytes before a run holds more than 64 KiB; where it says no, the run fails. The bytes are for
    /// giving back when the run is over, behind <see cref="Trim"/>. Null where the limits alone bound a run.
    /// </summary>
    public Func<long, bool>? MemorySource
    {
        get => _heap.MemorySource;
        set => _heap.MemorySource = value;
    }

    /// <summary>Why the last run failed.</summary>
    public string? Failure { get; private set; }

    /// <summary>Steps that runs may take beside their limits.</summary>
    public long StepsLeft { get; set; } = long.MaxValue;

    /// <summary>Steps that the last run took.</summary>
    public long Steps => _heap.Steps;

    /// <summary>
    /// Whether doubles are added by the digits that they are written with, as <see cref="DecimalSum"/> does: the
    /// reduces of indexes add parts in any order, and 0.1 three times is 0.3 in each.
    /// </summary>
    public bool AddsDecimals
    {
        get => _context.AddsDecimals;
        set => _context.AddsDecimals = value;
    }

    /// <summary>
    /// Whether a run fails whose result holds NaN or an infinity, which JSON has not: otherwise they are null, and a
    /// reduce adds null as 0.
    /// </summary>
    public bool RefusesNonFinite
    {
        get => _writer.RefusesNonFinite;
        set => _writer.RefusesNonFinite = value;
    }

    /// <summary>
    /// Names of the result's members in which NaN and infinities are refused; in its other members they are null. Null
    /// where all members are meant.
    /// </summary>
    public IReadOnlySet<string>? FiniteMembers
    {
        get => _writer.FiniteMembers;
        set => _writer.FiniteMembers = value;
    }

    /// <summary>Whether the result is something: not null and not undefined.</summary>
    public bool HasResult => !_result.IsNothing;

    /// <summary>Whether the result is an array: a fan-out.</summary>
    public bool IsResultArray => _result.Kind == ValueKind.Array;

    /// <summary>Whether the result is an object.</summary>
    public bool IsResultObject => _result.Kind == ValueKind.Object;

    /// <summary>Elements of a result that is an array.</summary>
    public int ResultCount => _heap.Count(_result);

    /// <summary>Takes a program for the runs that follow.</summary>
    public void Load(ScriptProgram program)
    {
        if (!_loaded.Equals(program.Bytes))
        {
            Load(program.Bytes.Span);
            _loaded = program.Bytes;
        }
    }

    /// <summary>Begins a run: forgets parameters and values of the last one.</summary>
    public void Begin()
    {
        _heap.Reset(_program.ConstantBytes, _limits.MemoryBytes);
        _parameters.Clear();
        _context.Documents.Clear();
        Failure = null;
        _result = ScriptValue.Undefined;
    }

    /// <summary>
    /// Adds JSON as the next parameter. It is valid and minimised; a null value for what is not there.
    /// </summary>
    public void AddJson(ReadOnlySpan<byte> json)
    {
        if (json.IsEmpty)
        {
            _parameters.Add(ScriptValue.Undefined);
            return;
        }

        try
        {
            int start = _heap.Length;
            _heap.Add(json);
            _parameters.Add(_heap.FromJson(start, _heap.Length));
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
        }
    }

    /// <summary>Adds a document as the next parameter.</summary>
    /// <param name="document">The document.</param>
    public void AddDocument(in ScriptDocument document)
    {
        try
        {
            _parameters.Add(_context.Documents.Keep(document));
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
        }
    }

    /// <summary>
    /// Adds a document that the run is to make as the next parameter: it has no members, and its metadata cannot be
    /// set.
    /// </summary>
    public void AddNewDocument() => _parameters.Add(_context.Documents.KeepNew());

    /// <summary>Runs the program.</summary>
    /// <returns>False when it failed, or its parameters take more memory than it may: see
    /// <see cref="Failure"/>.</returns>
    public bool TryRun() => TryRun(_loaded.Span);

    /// <summary>Writes the result; undefined is null.</summary>
    /// <param name="json">The JSON, valid until the next call.</param>
    /// <returns>False when it went over the limits: see <see cref="Failure"/>.</returns>
    public bool TryWriteResult(out ReadOnlySpan<byte> json) => TryWrite(_result, out json);

    /// <summary>Writes an element of a result that is an array.</summary>
    /// <param name="index">Which one.</param>
    /// <param name="json">The JSON, valid until the next call; empty for null and undefined.</param>
    /// <returns>False when it went over the limits: see <see cref="Failure"/>.</returns>
    public bool TryWriteElement(int index, out ReadOnlySpan<byte> json)
    {
        json = default;
        var element = _heap.Element(_result, index);
        return element.IsNothing || TryWrite(element, out json);
    }

    /// <summary>Gives memory back that a large document took. The program is to be loaded again.</summary>
    public void Trim()
    {
        TrimValues();
        _writer.Clear();
    }

    /// <summary>Gives the buffers back.</summary>
    public void Dispose()
    {
        _heap.Release();
        _writer.Release();
        _loaded = default;
        _program.Forget();
    }

    /// <summary>
    /// Gives the memory of a large run's values back, but not what was written of them. The program is to be loaded
    /// again.
    /// </summary>
    internal void TrimValues()
    {
        if (_heap.IsLarge)
        {
            _heap.Release();
            _loaded = default;
            _program.Forget();
        }

        _machine.Trim();
    }

    /// <summary>Writes a parameter as the script left it.</summary>
    internal bool TryWriteParameter(int index, out ReadOnlySpan<byte> json) => TryWrite(_parameters[index], out json);

    /// <summary>Takes an encoded program.</summary>
    internal void Load(ReadOnlySpan<byte> program)
    {
        _loaded = default;
        _heap.Reset(0, _limits.MemoryBytes);
        _program.Read(program, _heap);
    }

    /// <summary>Runs the program that was loaded from these bytes.</summary>
    internal bool TryRun(ReadOnlySpan<byte> program)
    {
        if (Failure is not null)
        {
            return false;
        }

        long given = (long)(_heap.Length - _program.ConstantBytes) * _limits.StepsPerByte;
        _heap.Allow(Math.Min(Math.Min(_limits.Steps + given, _limits.MostSteps), StepsLeft));
        try
        {
            _result = _machine.Run(program[_program.CodeStart..], _parameters);
            return true;
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
            return false;
        }
    }

    private bool TryWrite(ScriptValue value, out ReadOnlySpan<byte> json)
    {
        try
        {
            json = _writer.Write(value);
            return true;
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
            json = default;
            return false;
        }
    }
}
