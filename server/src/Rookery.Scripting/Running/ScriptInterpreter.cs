using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// Runs compiled scripts over documents. Deterministic: independent of clock, randomness, culture and Unicode version.
/// Limits steps and memory. Reusable. A run over a small document allocates nothing. Not thread-safe.
/// </summary>
/// <remarks>
/// Load a program. Then, for each document, call <see cref="Begin"/>, add the parameters in order, call
/// <see cref="TryRun()"/>, and write the result.
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

    // The bytes of the loaded program; empty if none is loaded.
    private ReadOnlyMemory<byte> _loaded;
    private ScriptValue _result;

    /// <summary>Creates an interpreter.</summary>
    /// <param name="limits">The limits of a run; null for the default ones.</param>
    public ScriptInterpreter(ScriptLimits? limits = null)
    {
        _limits = limits ?? ScriptLimits.Default;
        _context = new ScriptContext(_limits);
        _heap = _context.Heap;
        _machine = new StackMachine(_context, _program);
        _writer = new ResultWriter(_heap, _limits);
    }

    /// <summary>The documents that <c>load</c> finds; null for none.</summary>
    public IScriptDocuments? Documents
    {
        get => _context.Documents.Source;
        set => _context.Documents.Source = value;
    }

    /// <summary>The answer of a query that results are computed for; null for none.</summary>
    public IQueryAnswer? Answer
    {
        get => _context.Answer.Target;
        set => _context.Answer.Target = value;
    }

    /// <summary>
    /// Called to reserve bytes before a run holds more than 64 KiB. If it returns false, the run fails. The caller
    /// releases the reserved bytes after the run and <see cref="Trim"/>. Null to apply only the limits.
    /// </summary>
    public Func<long, bool>? MemorySource
    {
        get => _heap.Budget.MemorySource;
        set => _heap.Budget.MemorySource = value;
    }

    /// <summary>
    /// Why the last run failed, with the line if the script is a patch of several lines; null if it succeeded.
    /// </summary>
    public string? Failure { get; private set; }

    /// <summary>Maximum steps of a run, in addition to the limits.</summary>
    public long StepsLeft { get; set; } = long.MaxValue;

    /// <summary>
    /// The time that <c>Date.now()</c> and <c>new Date()</c> have, in UTC ticks. Only patches may use it: the log time
    /// of their entry.
    /// </summary>
    public long NowTicks
    {
        set => _context.Now = Moment.OfTicks(value);
    }

    /// <summary>Number of steps of the last run.</summary>
    public long Steps => _heap.Budget.Steps;

    /// <summary>
    /// Whether doubles are added by the digits of their text (<see cref="DecimalSum"/>). Set for reduces, which add in
    /// any order: the sum of 0.1, 0.1 and 0.1 must always be 0.3.
    /// </summary>
    public bool AddsDecimals
    {
        get => _context.AddsDecimals;
        set => _context.AddsDecimals = value;
    }

    /// <summary>
    /// Whether a run fails if its result contains NaN or an infinity of JavaScript, which JSON does not have. Otherwise
    /// they are written as null, which a reduce would add as 0. A run with NaN or an infinity of C# always fails. For
    /// the exception to both, see <see cref="FiniteMembers"/>.
    /// </summary>
    public bool RefusesNonFinite
    {
        get => _writer.RefusesNonFinite;
        set => _writer.RefusesNonFinite = value;
    }

    /// <summary>
    /// The members of the result in which NaN and infinities are rejected. In other members they are written as null.
    /// Null to reject them in all members.
    /// </summary>
    public IReadOnlySet<string>? FiniteMembers
    {
        get => _writer.FiniteMembers;
        set => _writer.FiniteMembers = value;
    }

    /// <summary>Whether the result is neither null nor undefined.</summary>
    public bool HasResult => !_result.IsNothing;

    /// <summary>Whether the result is an array. A map may return an array of rows.</summary>
    public bool IsResultArray => _result.Kind == ValueKind.Array;

    /// <summary>Whether the result is an object.</summary>
    public bool IsResultObject => _result.Kind == ValueKind.Object;

    /// <summary>Number of elements of an array result.</summary>
    public int ResultCount => _heap.Containers.Count(_result);

    /// <summary>Loads a program for the following runs.</summary>
    public void Load(ScriptProgram program)
    {
        if (!_loaded.Equals(program.Bytes))
        {
            Load(program.Bytes.Span);
            _loaded = program.Bytes;
        }
    }

    /// <summary>Begins a run: clears the parameters and values of the last one.</summary>
    public void Begin()
    {
        _heap.Reset(_program.ConstantBytes, _limits.MemoryBytes);
        _parameters.Clear();
        _context.Documents.Clear();
        _context.Patterns.Clear();
        _context.Answer.Clear();
        Failure = null;
        _result = ScriptValue.Undefined;
    }

    /// <summary>
    /// Adds JSON as the next parameter. It must be valid and minimised. Empty JSON stands for undefined.
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
            _parameters.Add(_heap.Containers.FromJson(start, _heap.Length));
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
            _parameters.Add(_context.Documents.Add(document));
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
        }
    }

    /// <summary>
    /// Adds a new document as the next parameter, to which the script adds members.
    /// </summary>
    public void AddNewDocument() => _parameters.Add(_context.Documents.AddNew());

    /// <summary>Runs the program.</summary>
    /// <returns>False if the run failed or its parameters exceed the memory limit, see <see cref="Failure"/>.</returns>
    public bool TryRun() => TryRun(_loaded.Span);

    /// <summary>Writes the result. Undefined is written as null.</summary>
    /// <param name="json">The JSON, valid until the next call.</param>
    /// <returns>False if a limit is exceeded, see <see cref="Failure"/>.</returns>
    public bool TryWriteResult(out ReadOnlySpan<byte> json) => TryWrite(_result, out json);

    /// <summary>Writes an element of an array result.</summary>
    /// <param name="index">The index of the element.</param>
    /// <param name="json">The JSON, valid until the next call; empty for null and undefined.</param>
    /// <returns>False if a limit is exceeded, see <see cref="Failure"/>.</returns>
    public bool TryWriteElement(int index, out ReadOnlySpan<byte> json)
    {
        json = default;
        var element = _heap.Containers.Element(_result, index);
        return element.IsNothing || TryWrite(element, out json);
    }

    /// <summary>Releases memory after a large document. The program must be loaded again before the next run.</summary>
    public void Trim()
    {
        TrimValues();
        _writer.Clear();
    }

    /// <summary>Releases all buffers.</summary>
    public void Dispose()
    {
        _heap.Release();
        _writer.Release();
        _context.Json.Release();
        _context.Stored.Release();
        _loaded = default;
        _program.MarkUnloaded();
    }

    /// <summary>
    /// Releases the values of a large run, but keeps the written result. The program must be loaded again before the
    /// next run.
    /// </summary>
    internal void TrimValues()
    {
        if (_heap.IsLarge)
        {
            _heap.Release();
            _loaded = default;
            _program.MarkUnloaded();
        }

        _machine.Trim();
        _context.Patterns.Trim();
        _context.Json.Clear();
        _context.Stored.Clear();
    }

    /// <summary>Writes a parameter as it is after the run.</summary>
    internal bool TryWriteParameter(int index, out ReadOnlySpan<byte> json) => TryWrite(_parameters[index], out json);

    /// <summary>Writes the metadata of a document as it is after the run.</summary>
    /// <param name="index">The number of the parameter that is the document.</param>
    /// <param name="json">The object, valid until the next call; empty if the run did not use the metadata.</param>
    /// <returns>False if a limit is exceeded, see <see cref="Failure"/>.</returns>
    internal bool TryWriteMetadata(int index, out ReadOnlySpan<byte> json)
    {
        json = default;
        var metadata = _context.Documents.ChangedMetadataOf(_parameters[index]);
        return metadata.Kind == ValueKind.Undefined || TryWrite(metadata, out json);
    }

    /// <summary>Loads, stores and deletes documents for the following runs, which are patches.</summary>
    internal IScriptStore Store
    {
        set => (_context.Store, _context.Documents.Source) = (value, value);
    }

    /// <summary>Loads an encoded program.</summary>
    internal void Load(ReadOnlySpan<byte> program)
    {
        _loaded = default;
        _heap.Reset(keptBytes: 0, _limits.MemoryBytes);
        _program.Read(program, _heap);
        _context.Patterns.BeginProgram(_program.ConstantBytes);
    }

    /// <summary>Runs the program that was loaded from these bytes.</summary>
    internal bool TryRun(ReadOnlySpan<byte> program)
    {
        if (Failure is not null)
        {
            return false;
        }

        long inputSteps = (long)(_heap.Length - _program.ConstantBytes) * _limits.StepsPerByte;
        _heap.Budget.Allow(Math.Min(Math.Min(_limits.Steps + inputSteps, _limits.MaxSteps), StepsLeft));
        try
        {
            _result = _machine.Run(program[_program.CodeStart..], _parameters);
            return true;
        }
        catch (ScriptFailure failure)
        {
            int line = LineTable.Find(program, _machine.Instruction);
            Failure = line == 0 ? failure.Message : $"{failure.Message} (line {line})";
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
