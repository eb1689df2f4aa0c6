namespace Rookery.Documents.Redis.Running;

/// <summary>The list of a key, as a command reads it and builds its next version.</summary>
internal sealed class ListValue(RedisSession session)
{
    private readonly RedisArray _elements = new();

    /// <summary>Number of elements that were loaded.</summary>
    public int Count => _elements.Count;

    /// <summary>Returns large memory after a command.</summary>
    public void Trim() => _elements.Trim();

    /// <summary>Finds the elements. If the key has another type, replies with an error.</summary>
    /// <param name="target">The key; one that does not exist has no elements.</param>
    /// <param name="body">The body of the document, for the other methods.</param>
    /// <returns>False if the key has another type.</returns>
    public bool TryLoad(RedisTarget target, out ReadOnlySpan<byte> body)
    {
        body = default;
        if (!session.IsTypeOrNone(target, RedisType.List))
        {
            return false;
        }

        body = target.Exists ? target.View.Body : default;
        _elements.Load(body);
        return true;
    }

    /// <summary>Returns an element; valid until the next one is read.</summary>
    public ReadOnlySpan<byte> Read(ReadOnlySpan<byte> body, int index) => _elements.Read(body, index, session.Value);

    /// <summary>Begins the next version of a list, without elements.</summary>
    public void Begin(RedisTarget target)
    {
        if (target.Exists)
        {
            session.Content.Begin(target.View, RedisType.List, target.ExpiresAtTicks);
        }
        else
        {
            session.Content.Begin(RedisType.List, expiresAtTicks: 0);
        }

        session.Content.Append("\"List\":["u8);
    }

    /// <summary>Appends elements that were loaded.</summary>
    public void Append(ReadOnlySpan<byte> body, int first, int count)
    {
        for (int i = first; i < first + count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(_elements.Json(body, i));
        }
    }

    /// <summary>Appends all elements of another list.</summary>
    public void AppendAll(RedisTarget other)
    {
        var body = other.Exists ? other.View.Body : default;
        var elements = body.IsEmpty ? body : body[(RedisBody.ArrayAt(body) + 1)..^1];
        if (!elements.IsEmpty)
        {
            session.Content.AppendComma();
            session.Content.Append(elements);
        }
    }

    /// <summary>Appends a new element.</summary>
    public void AppendNew(ReadOnlySpan<byte> element)
    {
        session.Content.AppendComma();
        session.Content.AppendElement(element);
    }

    /// <summary>Stores the version that was built, or replies with an error if it is too long.</summary>
    public bool TryPut(RedisTarget target)
    {
        session.Content.Append("]"u8);
        return session.TryPut(target);
    }

    /// <summary>Stores the version that was built from fewer elements; deletes a list without elements.</summary>
    /// <param name="target">The key.</param>
    /// <param name="count">Number of elements of the version.</param>
    public void PutOrDelete(RedisTarget target, int count)
    {
        session.Content.Append("]"u8);
        session.PutOrDelete(target, count);
    }

    /// <summary>Stores a list with some of its elements, or deletes it if there are none.</summary>
    public void Keep(RedisTarget target, ReadOnlySpan<byte> body, int first, int count)
    {
        Begin(target);
        Append(body, first, count);
        PutOrDelete(target, count);
    }
}
