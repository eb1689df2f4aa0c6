using Rookery.Documents.Json;

namespace Rookery.Documents.Scripting;

/// <summary>
/// Runs compiled scripts over documents. Deterministic: no clock, no randomness, no culture, no tables but its own; steps and memory are counted and bounded. One thread at a time; used again for the next
/// document, it allocates nothing for small ones.
/// </summary>
/// <remarks>
/// Load a program; for each document <see cref="Begin"/>, add its parameters in their order, <see cref="TryRun()"/>, and write what is wanted of the result.
/// </remarks>
public sealed partial class ScriptInterpreter : IDisposable
{
    private const int MostFrames = 100;
    private const int MostStack = 16 * 1024;
    private const int IdleStack = 1024;
    private const int BytesPerStep = 16;

    private readonly ScriptLimits limits;
    private readonly ScriptHeap heap = new();
    private readonly PooledBytes output = new();
    private readonly List<ScriptValue> parameters = [];
    private readonly Frame[] frames = new Frame[MostFrames];
    private ScriptValue[] stack = new ScriptValue[256];
    private ScriptValue[] constants = [];
    private FunctionEntry[] functions = [];
    private ReadOnlyMemory<byte> loaded;
    private ScriptValue result;
    private int codeStart;
    private int constantBytes;
    private int top;

    /// <summary>Makes one.</summary>
    /// <param name="limits">What a run may cost; the default ones where none are given.</param>
    public ScriptInterpreter(ScriptLimits? limits = null)
    {
        this.limits = limits ?? ScriptLimits.Default;
        receive = Receive;
    }

    /// <summary>Where <c>load</c> finds documents; without one, it finds none.</summary>
    public IScriptDocuments? Documents { get; set; }

    /// <summary>
    /// Asked for so many bytes before a run holds more than 64 KiB; where it says no, the run fails. The bytes are for giving back when the run is over, behind <see cref="Trim"/>. Null where the limits
    /// alone bound a run.
    /// </summary>
    public Func<long, bool>? MemorySource
    {
        get => heap.MemorySource;
        set => heap.MemorySource = value;
    }

    /// <summary>Why the last run failed.</summary>
    public string? Failure { get; private set; }

    /// <summary>Steps that runs may take beside their limits.</summary>
    public long StepsLeft { get; set; } = long.MaxValue;

    /// <summary>Steps that the last run took.</summary>
    public long Steps => heap.Steps;

    /// <summary>
    /// Whether doubles are added by the digits that they are written with, as <see cref="DecimalSum"/> does: the
    /// reduces of indexes add parts in any order, and 0.1 three times is 0.3 in each.
    /// </summary>
    public bool AddsDecimals { get; set; }

    /// <summary>Takes a program for the runs that follow.</summary>
    public void Load(ScriptProgram program)
    {
        if (!loaded.Equals(program.Bytes))
        {
            Load(program.Bytes.Span);
            loaded = program.Bytes;
        }
    }

    /// <summary>Begins a run: forgets parameters and values of the last one.</summary>
    public void Begin()
    {
        heap.Reset(constantBytes, limits.MemoryBytes);
        parameters.Clear();
        documents.Clear();
        loads.Clear();
        Failure = null;
        result = ScriptValue.Undefined;
    }

    /// <summary>Adds JSON as the next parameter. It is valid and minimised; a null value for what is not there.</summary>
    public void AddJson(ReadOnlySpan<byte> json)
    {
        if (json.IsEmpty)
        {
            parameters.Add(ScriptValue.Undefined);
            return;
        }

        try
        {
            int start = heap.Length;
            heap.Add(json);
            parameters.Add(heap.FromJson(start, heap.Length));
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
        }
    }

    /// <summary>Adds a document as the next parameter.</summary>
    /// <param name="document">The document.</param>
    /// <param name="changeVector">Its change vector for the metadata; empty to leave it out.</param>
    public void AddDocument(in DocumentView document, ReadOnlySpan<byte> changeVector = default)
    {
        try
        {
            parameters.Add(Keep(document, changeVector));
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
        }
    }

    /// <summary>Adds a document that the run is to make as the next parameter: it has no members, and its metadata cannot be set.</summary>
    public void AddNewDocument() => parameters.Add(KeepNew());

    /// <summary>Adds a parameter that is not there.</summary>
    public void AddMissing() => parameters.Add(ScriptValue.Undefined);

    /// <summary>Runs the program.</summary>
    /// <returns>False when it failed, or its parameters take more memory than it may: see <see cref="Failure"/>.</returns>
    public bool TryRun() => TryRun(loaded.Span);

    /// <summary>Gives memory back that a large document took. The program is to be loaded again.</summary>
    public void Trim()
    {
        TrimValues();
        output.Clear();
    }

    /// <summary>Gives the buffers back.</summary>
    public void Dispose()
    {
        heap.Release();
        output.Release();
        loaded = default;
        constantBytes = 0;
    }

    /// <summary>Gives the memory of a large run's values back, but not what was written of them. The program is to be loaded again.</summary>
    internal void TrimValues()
    {
        if (heap.IsLarge)
        {
            heap.Release();
            loaded = default;
            constantBytes = 0;
        }

        if (stack.Length > IdleStack)
        {
            stack = new ScriptValue[IdleStack];
        }
    }

    /// <summary>Takes an encoded program.</summary>
    internal void Load(ReadOnlySpan<byte> program)
    {
        loaded = default;
        if (program.IsEmpty || program[0] != ScriptProgram.Version)
        {
            throw ScriptProgram.Broken();
        }

        heap.Reset(0, limits.MemoryBytes);
        int at = 1;
        int count = ScriptProgram.ReadNumber(program, ref at);
        if (count > constants.Length)
        {
            constants = new ScriptValue[Math.Min(count, program.Length)];
        }

        for (int index = 0; index < count; index++)
        {
            constants[index] = Varint.TryReadBytes(program, ref at, out var text) ? heap.NewText(text) : throw ScriptProgram.Broken();
        }

        count = ScriptProgram.ReadNumber(program, ref at);
        if (count > functions.Length)
        {
            functions = new FunctionEntry[Math.Min(count, program.Length)];
        }

        for (int index = 0; index < count; index++)
        {
            functions[index] = new FunctionEntry(ScriptProgram.ReadNumber(program, ref at), ScriptProgram.ReadNumber(program, ref at), ScriptProgram.ReadNumber(program, ref at));
        }

        codeStart = at;
        constantBytes = heap.Length;
    }

    /// <summary>Runs the program that was loaded from these bytes.</summary>
    internal bool TryRun(ReadOnlySpan<byte> program)
    {
        if (Failure is not null)
        {
            return false;
        }

        long given = (long)(heap.Length - constantBytes) * limits.StepsPerByte;
        heap.Allow(Math.Min(Math.Min(limits.Steps + given, limits.MostSteps), StepsLeft));
        top = 0;
        try
        {
            foreach (var parameter in parameters)
            {
                Push(parameter);
            }

            result = Execute(program[codeStart..]);
            return true;
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
            return false;
        }
    }

    /// <summary>Where a call came from.</summary>
    private readonly record struct Frame(int Return, int Base);

    private readonly record struct FunctionEntry(int Parameters, int Locals, int Start);
}
