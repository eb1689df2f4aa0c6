using System.Buffers;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Scripting.Running;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Runs the reduce of a static map/reduce index, without the interpreter where possible. Not thread-safe.
/// </summary>
internal sealed class ReduceRunner : IReducer, IDisposable
{
    private readonly CompiledReduce _reduce;
    private readonly ReduceKeyForm _form;
    private readonly ScriptInterpreter _key;
    private readonly ScriptInterpreter _row;
    private readonly ArrayBufferWriter<byte> _group = new();
    private readonly GrowableBytes _plainKey = new();

    /// <summary>Makes a runner for a reduce.</summary>
    /// <param name="reduce">The reduce.</param>
    /// <param name="limits">The limits for one call; null for the default ones.</param>
    public ReduceRunner(CompiledReduce reduce, ScriptLimits? limits = null)
    {
        (_reduce, _form) = (reduce, new ReduceKeyForm(reduce.KeyMembers));
        _key = new ScriptInterpreter(limits) { RefusesNonFinite = true };
        _row = new ScriptInterpreter(limits)
        {
            AddsDecimals = true,
            RefusesNonFinite = true,
            FiniteMembers = reduce.ReadMembers,
        };
    }

    /// <summary>
    /// Returns the key of a row, as JSON in normal form. Valid until the next call. It may be longer than the row,
    /// because a key that the text writes as an object has the names of missing members.
    /// </summary>
    /// <exception cref="ReduceException">The script failed.</exception>
    public ReadOnlySpan<byte> KeyOf(ReadOnlySpan<byte> row) => _form.Of(ReadKey(row));

    /// <summary>
    /// Whether the order of rows may change the result. False for sums. True for all other reduces, because they may
    /// use functions such as <c>First()</c>.
    /// </summary>
    public bool HasOrder => _reduce.Plain is null;

    /// <inheritdoc/>
    public void Reduce(in ReduceRows rows, IBufferWriter<byte> row)
    {
        var key = KeyOf(rows[0]);
        if (_reduce.Plain is { } plain && plain.TryReduce(rows, key, row))
        {
            return;
        }

        BeginGroup(key);
        for (int i = 0; i < rows.Count; i++)
        {
            AddRow(rows[i]);
        }

        EndGroup(row);
    }

    /// <summary>Starts a group.</summary>
    internal void BeginGroup(ReadOnlySpan<byte> key)
    {
        _group.ResetWrittenCount();
        _group.Write("{\"key\":"u8);
        _group.Write(key);
        _group.Write(",\"values\":["u8);
    }

    /// <summary>Adds a row to the group.</summary>
    internal void AddRow(ReadOnlySpan<byte> row)
    {
        if (_group.WrittenSpan[^1] != (byte)'[')
        {
            _group.Write(","u8);
        }

        _group.Write(row);
    }

    /// <summary>Reduces the rows of the group.</summary>
    internal void EndGroup(IBufferWriter<byte> row)
    {
        _group.Write("]}"u8);

        // The program is loaded again, because trimming after a large group may have released it.
        _row.Load(_reduce.Row);
        try
        {
            _row.Begin();
            _row.AddJson(_group.WrittenSpan);
            if (!_row.TryRun() || !_row.TryWriteResult(out var reduced))
            {
                throw Failed(_row);
            }

            if (reduced[0] != (byte)'{')
            {
                throw new ReduceException("A reduce returns an object; here it returned another value.");
            }

            if (_reduce.Added?.FindIn(reduced) is { } added)
            {
                throw new ReduceException(
                    $"The reduce adds the member '{added}' to its row: write it in the object, {{ {added}: … }}."
                );
            }

            row.Write(reduced);
        }
        finally
        {
            _row.Trim();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _form.Release();
        _key.Dispose();
        _row.Dispose();
    }

    private ReadOnlySpan<byte> ReadKey(ReadOnlySpan<byte> row)
    {
        if (_reduce.Plain is { } plain && plain.TryReadKey(row, _plainKey, out var plainKey))
        {
            return plainKey;
        }

        _key.Load(_reduce.Key);
        _key.Begin();
        _key.AddJson(row);
        try
        {
            return _key.TryRun() && _key.TryWriteResult(out var key) ? key : throw Failed(_key);
        }
        finally
        {
            _key.TrimValues(); // the written key stays valid
        }
    }

    private static ReduceException Failed(ScriptInterpreter interpreter) =>
        new($"The reduce failed: {interpreter.Failure}.");
}
