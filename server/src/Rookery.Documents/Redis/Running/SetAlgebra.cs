using Rookery.Platform;
using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>SINTER, SUNION, SDIFF, and the commands that store their results.</summary>
internal sealed class SetAlgebra(RedisSession session, RedisArray members)
{
    // Hashing and finding a member takes about as long as copying so many bytes.
    private const int BytesPerMember = 64;

    // The same on all members, because it decides what is stored.
    private const int MaxResultBytes = 32 << 20;

    private readonly RedisMembers _result = new();

    private enum Operation
    {
        Union,
        Intersection,
        Difference,
    }

    private RedisReply Reply => session.Reply;

    /// <summary>Returns large memory after a command.</summary>
    public void Trim() => _result.Clear();

    /// <summary>Releases all memory.</summary>
    public void Release() => _result.Release();

    /// <summary>Runs a command; false if it is none of these.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.SetUnion or O.SetUnionStore:
                Run(Operation.Union, arguments, stores: opcode == O.SetUnionStore);
                return true;
            case O.SetIntersect or O.SetIntersectStore:
                Run(Operation.Intersection, arguments, stores: opcode == O.SetIntersectStore);
                return true;
            case O.SetSubtract or O.SetSubtractStore:
                Run(Operation.Difference, arguments, stores: opcode == O.SetSubtractStore);
                return true;
            default:
                return false;
        }
    }

    private void Run(Operation operation, RedisArguments arguments, bool stores)
    {
        int first = stores ? 1 : 0;
        for (int i = first; i < arguments.Count; i++)
        {
            if (!TryAdd(operation, arguments[i], i - first))
            {
                return;
            }
        }

        int count = 0;
        for (int i = 0; i < _result.Count; i++)
        {
            count += IsResult(operation, i, arguments.Count - first) ? 1 : 0;
        }

        if (stores)
        {
            Store(operation, arguments, count);
            return;
        }

        Reply.Set(count);
        for (int i = 0; i < _result.Count; i++)
        {
            if (IsResult(operation, i, arguments.Count))
            {
                Reply.Bulk(_result[i]);
            }
        }
    }

    // Adds the set of a key, counted from 0. If the key has another type, replies with an error and returns false. For
    // an intersection, the number of a member is that of the last set up to which every set contains it. For a
    // difference, it is that of the last set that contains it.
    private bool TryAdd(Operation operation, ReadOnlySpan<byte> key, int number)
    {
        using var target = session.Open(key);
        if (!session.IsTypeOrNone(target, RedisType.Set))
        {
            return false;
        }

        var body = target.Exists ? target.View.Body : default;
        members.Load(body);
        session.Store.Spend((long)BytesPerMember * members.Count);
        for (int i = 0; i < members.Count; i++)
        {
            var member = members.Read(body, i, session.Value);
            if (number == 0 || operation == Operation.Union)
            {
                AddToResult(member);
            }
            else if (
                _result.Find(member) is >= 0 and var found
                && (operation == Operation.Difference || _result.NumberOf(found) == number - 1)
            )
            {
                _result.SetNumber(found, number);
            }
        }

        return true;
    }

    private void AddToResult(ReadOnlySpan<byte> member)
    {
        _result.Add(member);
        if (_result.Bytes + ((long)BytesPerMember * _result.Count) > MaxResultBytes)
        {
            throw new RedisLimitException(
                $"The sets have too many members to combine: more than {Amount.Bytes(MaxResultBytes)}, with "
                    + $"{BytesPerMember} bytes for each. Nothing of the commands was carried out."
            );
        }
    }

    private bool IsResult(Operation operation, int index, int sets) =>
        operation switch
        {
            Operation.Intersection => _result.NumberOf(index) == sets - 1,
            Operation.Difference => _result.NumberOf(index) == 0,
            _ => true,
        };

    private void Store(Operation operation, RedisArguments arguments, int count)
    {
        using var target = session.Open(arguments[0]);
        session.Content.Begin(RedisType.Set, expiresAtTicks: 0);
        session.Content.Append("\"Set\":["u8);
        for (int i = 0; i < _result.Count; i++)
        {
            if (IsResult(operation, i, arguments.Count - 1))
            {
                session.Content.AppendComma();
                session.Content.AppendElement(_result[i]);
            }
        }

        session.Content.Append("]"u8);
        if (count == 0 && target.Exists)
        {
            session.Store.Delete(target);
        }

        if (count == 0 || session.TryPut(target))
        {
            Reply.Integer(count);
        }
    }
}
